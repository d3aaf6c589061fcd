import type { Agent, ClientRequest, IncomingMessage, RequestOptions } from 'node:http';
import { isIP, type LookupFunction } from 'node:net';
import { createSecureContext, rootCertificates } from 'node:tls';

import { hostOf, type AllowList } from '../auth/jwks/allow-list.js';
import { resolveHost } from '../auth/jwks/fetch-document.js';
import { DeliveryFault, type SendNotification } from '../subscriptions/engine/parts.js';

/** Connections that are kept, of one receiver and in all. */
const KEPT = { each: 4, all: 256 };

/** What is read of the body of an answer at most, in bytes. */
const BODY = 64 * 1024;

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
    const options = { keepAlive: true, maxFreeSockets: KEPT.all, maxSockets: KEPT.each, timeout: 60_000 };
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
      signal,
    };
    return new Promise((resolve, reject) => {
      const call: ClientRequest = request(url, options, (answer: IncomingMessage) => {
        clearTimeout(timer);
        discard(answer);
        resolve({ status: answer.statusCode ?? 0, retryAfter: answer.headers['retry-after'] });
      });
      const timer = setTimeout(() => call.destroy(new DeliveryFault('no-response', 'the receiver did not answer in time')), timeout); // prettier-ignore
      call.on('error', (error: NodeJS.ErrnoException) => {
        clearTimeout(timer);
        reject(error instanceof DeliveryFault ? error : new DeliveryFault('no-response', `the receiver could not be reached (${error.code ?? 'no code'})`)); // prettier-ignore
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

/** Reads the body, so that the connection can be kept; a long one ends it. */
function discard(answer: IncomingMessage): void {
  let size = 0;
  answer.on('data', (part: Buffer) => {
    size += part.length;
    if (size > BODY) answer.destroy();
  });
  answer.on('error', () => {});
}
