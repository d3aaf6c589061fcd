import {
  createServer,
  METHODS,
  STATUS_CODES,
  type IncomingMessage,
  type RequestListener,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';

import { FhirError, type ErrorCode } from '../fhir/errors.js';
import { errorOutcome } from '../fhir/operation-outcome.js';
import { DEFAULT_LIMITS, type Limits } from '../fhir/limits.js';
import { JSON_TYPE } from '../format/negotiate.js';
import { closerOf } from './close-server.js';
import { inTurn } from './request/in-turn.js';
import type { Tls } from './transport/tls.js';

/** How often connections are looked at that are over their time, in milliseconds. */
const CHECK_INTERVAL = 5_000;

/** How long a broken connection stays for its client to see why, in milliseconds. */
const LINGER_TIME = 1_000;

/** Limits of a connection. */
export type ConnectionLimits = Pick<
  Limits,
  'headers' | 'headersTime' | 'requestTime' | 'connectionIdleTime' | 'keepAliveTime'
>;

/** A server that listens. */
export interface Listening {
  /** Root URL with the actual port, without a trailing slash. */
  readonly url: string;
  readonly port: number;
  /**
   * Takes no new connection, lets requests in progress end, and resolves when all are closed.
   *
   * @param drain how long they may take, in milliseconds; then they are cut
   * @param idleFor how long connections without a request may still bring one, in milliseconds; absent: not at all
   * @returns whether all ended by themselves
   */
  close(drain: number, idleFor?: number): Promise<boolean>;
}

/**
 * Listens on an address.
 *
 * @param port 0: any free one
 * @param tls absent: it speaks plain http
 * @param upgrade takes requests for web sockets; absent: they are answered as all others
 * @throws Error with a `code` of Node (`EADDRINUSE`) where that is not possible
 */
export function listen(
  listener: RequestListener,
  host: string,
  port: number,
  limits: Partial<ConnectionLimits> = {},
  tls?: Tls,
  upgrade?: UpgradeListener,
): Promise<Listening> {
  const { headers, headersTime, requestTime, connectionIdleTime, keepAliveTime } = { ...DEFAULT_LIMITS, ...limits };
  const ordered = inTurn(listener);
  const options = {
    maxHeaderSize: headers,
    headersTimeout: headersTime,
    requestTimeout: requestTime,
    keepAliveTimeout: keepAliveTime,
    connectionsCheckingInterval: Math.min(CHECK_INTERVAL, headersTime, requestTime),
  };
  const secure = tls?.createServer(options, ordered);
  const server = secure?.server ?? createServer(options, ordered);
  const event = secure === undefined ? 'connection' : 'secureConnection';
  const closeServer = closerOf(server, event);
  server.setTimeout(connectionIdleTime);
  // Only who reads the body says that it may come: one that is refused is never sent.
  server.on('checkContinue', ordered);
  if (upgrade !== undefined) {
    server.on('upgrade', (req: IncomingMessage, socket: Duplex, head: Buffer) => {
      if (req.headers.upgrade?.toLowerCase() === 'websocket') upgrade(req, socket, head);
      else server.emit(event, withoutUpgrade(req, socket, head));
    });
  }
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => answerBroken(error, socket));
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      const actual = (server.address() as AddressInfo).port;
      resolve({
        url: `${tls === undefined ? 'http' : 'https'}://${host.includes(':') ? `[${host}]` : host}:${actual}`,
        port: actual,
        close: (drain, idleFor = 0) =>
          new Promise((done) => {
            let isCut = false;
            const timer = setTimeout(() => {
              isCut = true;
              server.closeAllConnections();
            }, drain);
            closeServer(() => {
              clearTimeout(timer);
              done(!isCut);
            }, idleFor);
            secure?.stop();
          }),
      });
    });
  });
}

/** Takes over a connection whose client asks for a web socket. */
export type UpgradeListener = (req: IncomingMessage, socket: Duplex, head: Buffer) => void;

/** A connection whose client would like another protocol, h2c for one, to be read again from that request on, which goes without. */
function withoutUpgrade(
  { method, url, httpVersion, rawHeaders }: IncomingMessage,
  socket: Duplex,
  head: Buffer,
): Duplex {
  const lines = [`${method} ${url} HTTP/${httpVersion}`];
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i]!;
    if (/^(?:upgrade|connection|http2-settings)$/i.test(name)) continue;
    lines.push(`${name}: ${rawHeaders[i + 1]!}`);
  }
  socket.unshift(Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'), head]));
  return socket;
}

/** Failures before there is a request, by Node's codes. */
const BROKEN: Readonly<Record<string, ErrorCode>> = {
  HPE_HEADER_OVERFLOW: 'headers-too-large',
  ERR_HTTP_REQUEST_TIMEOUT: 'request-timeout',
};

/** Answers what is not HTTP enough to become a request, after the answers that are still on their way. */
function answerBroken(error: NodeJS.ErrnoException, socket: Socket): void {
  // Node keeps the answer in progress here, and looks at it in the same case.
  const { _httpMessage: pending } = socket as { _httpMessage?: ServerResponse | null };
  if (!socket.writable || error.code === 'ECONNRESET') socket.destroy();
  else if (pending === undefined || pending === null || pending.writableFinished) sendBroken(error, socket);
  else if (pending.headersSent) socket.destroy();
  else if (pending.req.complete) pending.once('finish', () => sendBroken(error, socket));
  else sendBroken(error, socket);
}

/** Node takes a method that it does not know for a request that is none. */
const REQUEST_LINE = /^([A-Z][A-Z-]{0,31}) \S+ HTTP\/1\.[01]\r?\n/;

/** A URL as a person typed it, with characters that it cannot have. */
const TYPED_LINE = /^[A-Z][A-Z-]{0,31} (.*[^\x21-\x7e].*) HTTP\/1\.[01]\r?\n/;

function describeBroken({ code = '', rawPacket }: NodeJS.ErrnoException & { readonly rawPacket?: Buffer }): FhirError {
  if (code === 'HPE_INVALID_METHOD') {
    const [, method] = REQUEST_LINE.exec(rawPacket?.toString('latin1', 0, 16_384) ?? '') ?? [];
    if (method !== undefined && !METHODS.includes(method)) return new FhirError('method-unknown');
  }
  if (TYPED_LINE.test(rawPacket?.toString('latin1', 0, 16_384) ?? '')) {
    return new FhirError(
      'url-invalid',
      'In a URL a space is written %20, and what is not ASCII percent-encoded as UTF-8: ü is %C3%BC',
    );
  }
  return new FhirError(BROKEN[code] ?? 'request-invalid');
}

function sendBroken(error: NodeJS.ErrnoException, socket: Socket): void {
  refuseConnection(describeBroken(error), socket);
}

/** Answers on a connection that no answer can be made for, and ends it. */
export function refuseConnection(failure: FhirError, socket: Duplex): void {
  if (!socket.writable) return;
  const body = JSON.stringify(errorOutcome(failure));
  socket.end(
    `HTTP/1.1 ${failure.status} ${STATUS_CODES[failure.status]}\r\nContent-Type: ${JSON_TYPE}; charset=utf-8\r\n` +
      `Content-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
  );
  // Not at once: that would take the answer from a client that still sends.
  setTimeout(() => socket.destroy(), LINGER_TIME).unref();
}
