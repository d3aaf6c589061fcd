import type { Agent, ClientRequest, IncomingMessage, RequestOptions } from 'node:http';
import { isIP, type LookupFunction } from 'node:net';
import { createSecureContext, rootCertificates } from 'node:tls';

import { hostOf, type AllowList } from '../auth/jwks/allow-list.js';
import { resolveHost } from '../auth/jwks/fetch-document.js';
import { DeliveryFault, type SendNotification } from '../subscriptions/engine/parts.js';

/** Idle connections that are kept to one receiver. How many are open at a time is for the gate of the deliveries: none waits here. */
const KEPT = 256;

/** Limits of the body of an answer that is read, in bytes and milliseconds: only so that the connection can be kept. */
const BODY = { bytes: 64 * 1024, time: 1000 };

/** Sends notifications, and closes the connections that it keeps. */
export interface Sender {
  readonly send: SendNotification;
  /** Why the server does not connect to a URL; undefined: it does, as far as the URL tells. */
  readonly endpointFault: (url: string) => string | undefined;
  close(): void;
}

/**
 * Sends notifications to receivers: over https, and over http to those that the list names; without redirects and cookies, on connections that
 * are kept. Each connection goes to an address that the list admits, of those that the name has at that moment.
 *
 * @param ca certificates of a private authority in PEM, beside the public ones
 * @param isOwn whether a URL is of this server
 */
export function createSender(allow: AllowList, isOwn: (url: string) => boolean, ca?: string): Sender {
  const agents = new Map<string, Agent>();

  async function agentOf(protocol: string): Promise<Agent> {
    const known = agents.get(protocol);
    if (known !== undefined) return known;
    const options = { keepAlive: true, maxFreeSockets: KEPT, maxSockets: Infinity, timeout: 60_000 };
    const made =
      protocol === 'http:'
        ? new (await import('node:http')).Agent(options)
        : new (await import('node:https')).Agent({
            ...options,
            secureContext: createSecureContext({
              minVersion: 'TLSv1.2',
              ...(ca === undefined ? {} : { ca: [...rootCertificates, ca] }),
            }),
          });
    agents.set(protocol, made);
    return made;
  }

  /** One look-up for each connection: what it gives is checked, and connected to. */
  function lookupOf(url: URL): LookupFunction {
    return (host, options, done) => {
      void resolveHost(host).then(
        (addresses) => {
          const fault = addresses.length === 0 ? unresolved() : addressFault(url, addresses);
          if (fault !== undefined) return done(fault, '', 0);
          const found = addresses.map((address) => ({ address, family: isIP(address) }));
          if (options.all === true) done(null, found);
          else done(null, found[0]!.address, found[0]!.family);
        },
        () => done(unresolved(), '', 0),
      );
    };
  }

  function addressFault(url: URL, addresses: readonly string[]): DeliveryFault | undefined {
    if (addresses.every((each) => allow.admits(url, each))) return undefined;
    return new DeliveryFault('no-response', 'the receiver has an address that is not allowed (subscriptions.allow)');
  }

  const endpointFault = (text: string): string | undefined => {
    const url = URL.canParse(text) ? new URL(text) : undefined;
    if (url === undefined) return 'is no absolute URL';
    const fault = allow.urlFault(url);
    if (fault !== undefined) return fault;
    const host = hostOf(url);
    const isLiteral = isIP(host) !== 0;
    // A name is asked for an address that is never public: only a host that is named passes.
    const isInside = isLiteral || /(?:^|\.)(?:localhost|local|internal)\.?$/.test(host);
    if (isInside && !allow.admits(url, isLiteral ? host : '127.0.0.1')) {
      return 'leads to an address that is not allowed (subscriptions.allow)';
    }
    return isOwn(text) ? 'is of this server' : undefined;
  };

  const send: SendNotification = async ({ url: text, headers, contentType, body, timeout, signal }) => {
    const fault = endpointFault(text);
    if (fault !== undefined) throw new DeliveryFault('no-response', `the endpoint ${fault}`);
    const url = new URL(text);
    const { request } = url.protocol === 'http:' ? await import('node:http') : await import('node:https');
    const agent = await agentOf(url.protocol);
    const bytes = Buffer.from(body);
    const all: Record<string, string | string[]> = {};
    for (const [name, value] of headers) {
      const key = Object.keys(all).find((each) => each.toLowerCase() === name.toLowerCase()) ?? name;
      const before = all[key];
      all[key] = before === undefined ? value : [before, value].flat();
    }
    const options: RequestOptions = {
      method: 'POST',
      headers: { ...all, 'Content-Type': contentType, 'Content-Length': bytes.length },
      agent,
      lookup: lookupOf(url),
    };
    if (signal.aborted) throw stopped();
    return new Promise((resolve, reject) => {
      const call: ClientRequest = request(url, options);
      // No error comes of a request that has no socket yet, or whose socket was given up: the timer and the signal settle by themselves.
      const fail = (fault: DeliveryFault): void => {
        reject(fault);
        over();
        call.destroy();
      };
      const onAbort = (): void => fail(stopped());
      const timer = setTimeout(() => fail(new DeliveryFault('no-response', 'the receiver did not answer in time')), timeout); // prettier-ignore
      const over = (): void => {
        clearTimeout(timer);
        signal.removeEventListener('abort', onAbort);
      };
      signal.addEventListener('abort', onAbort, { once: true });
      call.on('response', (answer: IncomingMessage) => {
        over();
        const head = { status: answer.statusCode ?? 0, retryAfter: answer.headers['retry-after'] };
        void discard(answer, Math.min(BODY.time, timeout)).then(() => resolve(head));
      });
      call.on('upgrade', (answer, socket) => {
        socket.destroy();
        fail(new DeliveryFault('error-response', `the receiver answered ${answer.statusCode ?? 0}`));
      });
      call.on('error', (error: NodeJS.ErrnoException) => {
        fail(error instanceof DeliveryFault ? error : new DeliveryFault('no-response', `the receiver could not be reached (${error.code ?? 'no code'})`)); // prettier-ignore
      });
      call.end(bytes);
    });
  };

  return {
    send,
    endpointFault,
    close() {
      for (const agent of agents.values()) agent.destroy();
    },
  };
}

function unresolved(): DeliveryFault {
  return new DeliveryFault('dns-resolution-error', 'the name of the receiver does not resolve');
}

function stopped(): DeliveryFault {
  return new DeliveryFault('no-response', 'the delivery was stopped');
}

/** Reads the body, so that the connection can be kept; a long or slow one ends it. Resolves when nothing more is read. */
async function discard(answer: IncomingMessage, time: number): Promise<void> {
  let size = 0;
  const timer = setTimeout(() => answer.destroy(), time);
  answer.on('data', (part: Buffer) => {
    size += part.length;
    if (size > BODY.bytes) answer.destroy();
  });
  answer.on('error', () => {});
  await new Promise<void>((resolve) => answer.once('close', resolve));
  clearTimeout(timer);
}
