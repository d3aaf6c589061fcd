import { createServer, STATUS_CODES, type RequestListener } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';

import { FhirError, type ErrorCode } from '../fhir/errors.js';
import { errorOutcome } from '../fhir/operation-outcome.js';
import { JSON_TYPE } from '../format/negotiate.js';

/** Room for a URL of 8 kB, which is judged later, and a token. In bytes. */
const MAX_HEADERS = 64 * 1024;

/** How long requests in progress may take to end when the server closes, in milliseconds. */
const DRAIN_TIME = 10_000;

/** A server that listens. */
export interface Listening {
  /** Root URL with the actual port, without a trailing slash. */
  readonly url: string;
  readonly port: number;
  /** Takes no new connection, lets requests in progress end, and resolves when all are closed. */
  close(): Promise<void>;
}

/**
 * Listens on an address.
 *
 * @param port 0: any free one
 * @throws Error with a `code` of Node (`EADDRINUSE`) where that is not possible
 */
export function listen(listener: RequestListener, host: string, port: number): Promise<Listening> {
  const server = createServer(
    { maxHeaderSize: MAX_HEADERS, requestTimeout: 300_000, headersTimeout: 30_000 },
    listener,
  );
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => answerBroken(error, socket));
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      const actual = (server.address() as AddressInfo).port;
      resolve({
        url: `http://${host.includes(':') ? `[${host}]` : host}:${actual}`,
        port: actual,
        close: () =>
          new Promise((done) => {
            const timer = setTimeout(() => server.closeAllConnections(), DRAIN_TIME);
            server.close(() => {
              clearTimeout(timer);
              done();
            });
            server.closeIdleConnections();
          }),
      });
    });
  });
}

/** Failures before there is a request, by Node's codes. */
const BROKEN: Readonly<Record<string, ErrorCode>> = {
  HPE_HEADER_OVERFLOW: 'headers-too-large',
  ERR_HTTP_REQUEST_TIMEOUT: 'request-timeout',
};

/** Answers what is not HTTP enough to become a request. */
function answerBroken(error: NodeJS.ErrnoException, socket: Socket): void {
  if (!socket.writable || error.code === 'ECONNRESET') {
    socket.destroy();
    return;
  }
  const failure = new FhirError(BROKEN[error.code ?? ''] ?? 'request-invalid');
  const body = JSON.stringify(errorOutcome(failure));
  socket.end(
    `HTTP/1.1 ${failure.status} ${STATUS_CODES[failure.status]}\r\nContent-Type: ${JSON_TYPE}; charset=utf-8\r\n` +
      `Content-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
  );
}
