import type { Agent } from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import { createSecureContext, rootCertificates } from 'node:tls';

import { hostOf } from './allow-list.js';
import type { Headers } from './caching.js';

/** A request to another server. */
export interface OutgoingRequest {
  readonly method: 'GET' | 'POST';
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  /** The only addresses that may be connected to; absent: as the name resolves. */
  readonly addresses?: readonly string[];
}

/** Answer of another server. It is always complete, and never a redirect that was followed. */
export interface IncomingAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: string;
}

/** Bounds of an exchange. Times in milliseconds, size in bytes. */
export interface ExchangeLimits {
  readonly connect: number;
  readonly total: number;
  readonly size: number;
}

/**
 * One exchange over https.
 *
 * @throws ExchangeError
 */
export type Exchange = (request: OutgoingRequest, limits: ExchangeLimits) => Promise<IncomingAnswer>;

/** Another server did not answer, or not as it has to. For logs: the text has no content of the answer. */
export class ExchangeError extends Error {
  constructor(text: string) {
    super(text);
    this.name = 'ExchangeError';
  }
}

/** RFC 9325 §4.2; 1.3 has its own. */
const CIPHERS = [
  'ECDHE-ECDSA-AES128-GCM-SHA256',
  'ECDHE-RSA-AES128-GCM-SHA256',
  'ECDHE-ECDSA-AES256-GCM-SHA384',
  'ECDHE-RSA-AES256-GCM-SHA384',
  'TLS_AES_256_GCM_SHA384',
  'TLS_AES_128_GCM_SHA256',
  'TLS_CHACHA20_POLY1305_SHA256',
].join(':');

/**
 * Exchanges over `node:https`: TLS 1.2 at least, certificate and name verified, no redirects, no cookies, a connection of its
 * own for each.
 *
 * @param ca certificates of private authorities in PEM, beside the public ones
 */
export function createExchange(ca?: string): Exchange {
  let agent: Agent | undefined;
  return async (request, limits) => {
    const { Agent, request: open } = await import('node:https');
    // Made once: reading all the public roots takes milliseconds. It keeps neither connections nor sessions.
    agent ??= new Agent({
      keepAlive: false,
      maxCachedSessions: 0,
      secureContext: createSecureContext({
        minVersion: 'TLSv1.2',
        ciphers: CIPHERS,
        ...(ca === undefined ? {} : { ca: [...rootCertificates, ca] }),
      }),
    });
    const { method, url, headers, body } = request;
    const through = agent;
    return await new Promise<IncomingAnswer>((resolve, reject) => {
      const fail = (text: string): void => {
        clearTimeout(total);
        clearTimeout(connect);
        reject(new ExchangeError(text));
        call.destroy();
      };
      const call = open({
        method,
        host: hostOf(url),
        port: url.port === '' ? 443 : Number(url.port),
        path: `${url.pathname}${url.search}`,
        headers: { ...headers, 'Accept-Encoding': 'identity', ...lengthOf(body) },
        agent: through,
        rejectUnauthorized: true,
        ...(isIP(hostOf(url)) === 0 ? { servername: hostOf(url) } : {}),
        ...(request.addresses === undefined ? {} : { lookup: pinned(request.addresses) }),
      });
      const total = setTimeout(() => fail('took too long'), limits.total);
      const connect = setTimeout(() => fail('could not be connected to in time'), limits.connect);
      call.on('socket', (socket) => socket.once('secureConnect', () => clearTimeout(connect)));
      call.on('error', (error: NodeJS.ErrnoException) => fail(`could not be reached (${error.code ?? 'no code'})`));
      call.on('response', (response) => {
        const parts: Buffer[] = [];
        let size = 0;
        response.on('data', (part: Buffer) => {
          size += part.length;
          if (size > limits.size) fail(`answered with more than ${limits.size} bytes`);
          else parts.push(part);
        });
        response.on('error', () => fail('broke off its answer'));
        response.on('aborted', () => fail('broke off its answer'));
        response.on('end', () => {
          clearTimeout(total);
          const text = Buffer.concat(parts).toString('utf8');
          resolve({ status: response.statusCode ?? 0, headers: response.headers, body: text });
        });
      });
      call.end(body);
    });
  };
}

function lengthOf(body: string | undefined): Record<string, string> {
  return body === undefined ? {} : { 'Content-Length': String(Buffer.byteLength(body)) };
}

/** Resolves to what was checked before, so that the name cannot lead elsewhere meanwhile (DNS rebinding). */
function pinned(addresses: readonly string[]): LookupFunction {
  const found = addresses.map((address) => ({ address, family: isIP(address) }));
  return (_host, options, done) => {
    const [first] = found;
    if (options.all === true) done(null, found);
    else if (first !== undefined) done(null, first.address, first.family);
    else done(new ExchangeError('has no address'), '', 0);
  };
}
