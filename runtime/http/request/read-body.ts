import type { IncomingMessage, ServerResponse } from 'node:http';

import { FhirError } from '../../fhir/errors.js';
import type { Limits } from '../../fhir/limits.js';
import { inflate } from '../../format/compress-inflate.js';

/** The limits of a body. */
export interface BodyLimits extends Pick<Limits, 'body' | 'bodyIdleTime'> {
  /** What messages call it; absent: a body. */
  readonly what?: string;
}

/** How long a body that was refused is let pass unread, in milliseconds. */
const DRAIN_TIME = 5_000;

/** Whether a request brings a body, be it an empty one of unknown length. */
export function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}

/**
 * The bytes of a body, inflated, in one piece.
 *
 * @throws FhirError as `openBody`
 */
export async function readBody(req: IncomingMessage, res: ServerResponse, limits: BodyLimits): Promise<Buffer> {
  const isGzip = checkHead(req, res, limits);
  const chunks: Buffer[] = [];
  if (isGzip) for await (const chunk of inflated(req, limits)) chunks.push(chunk);
  else await collect(req, limits, chunks);
  const [only] = chunks;
  return chunks.length === 1 && only !== undefined ? only : Buffer.concat(chunks);
}

/**
 * The bytes of a body, inflated, as they come; no more are read than may be.
 *
 * @throws FhirError `body-too-large`, `body-incomplete`, `body-encoding`, `request-timeout`, `unsupported-media-type`
 */
export async function* openBody(req: IncomingMessage, res: ServerResponse, limits: BodyLimits): AsyncGenerator<Buffer> {
  const isGzip = checkHead(req, res, limits);
  yield* isGzip ? inflated(req, limits) : within(pieces(req, limits.bodyIdleTime), limits);
}

/** Looks at what is known before the body, and has the client send it. @returns whether it is gzip */
function checkHead(req: IncomingMessage, res: ServerResponse, limits: BodyLimits): boolean {
  const isGzip = checkEncoding(req);
  if (Number(req.headers['content-length'] ?? 0) > limits.body) throw tooLarge(limits, isGzip);
  // The client waits for this; one whose body is not wanted never sends it.
  if (req.headers.expect !== undefined && req.httpVersionMinor > 0) res.writeContinue();
  return isGzip;
}

function inflated(req: IncomingMessage, limits: BodyLimits): AsyncGenerator<Buffer> {
  return within(inflate(pieces(req, limits.bodyIdleTime)), limits, true);
}

/** The same, as long as they are not too many. */
async function* within(chunks: AsyncIterable<Buffer>, limits: BodyLimits, isGzip = false): AsyncGenerator<Buffer> {
  let size = 0;
  for await (const chunk of chunks) {
    size += chunk.length;
    if (size > limits.body) throw tooLarge(limits, isGzip);
    yield chunk;
  }
}

function tooLarge({ body, what = 'A body' }: BodyLimits, isGzip = false): FhirError {
  return new FhirError('body-too-large', `${what} may have ${body} bytes${isGzip ? ' when inflated' : ''}`);
}

function noneArrived(idleTime: number): FhirError {
  const text = `Nothing of the body arrived for ${idleTime / 1000} s`;
  return new FhirError('request-timeout', text, { headers: { Connection: 'close' } });
}

/**
 * Puts all pieces of a body into a list, which takes a third of the time that iterators do. The connection stays when it
 * ends early.
 */
function collect(req: IncomingMessage, limits: BodyLimits, chunks: Buffer[]): Promise<void> {
  return new Promise((resolve, reject) => {
    let size = 0;
    const stop = (): void => {
      clearTimeout(timer);
      req.off('data', take).off('end', end).off('error', cut).off('close', cut);
    };
    const fail = (error: FhirError): void => {
      stop();
      req.pause();
      reject(error);
    };
    const timer = setTimeout(() => fail(noneArrived(limits.bodyIdleTime)), limits.bodyIdleTime);
    const take = (chunk: Buffer): void => {
      timer.refresh();
      size += chunk.length;
      if (size > limits.body) fail(tooLarge(limits));
      else chunks.push(chunk);
    };
    const end = (): void => {
      stop();
      resolve();
    };
    const cut = (): void => fail(new FhirError('body-incomplete'));
    if (req.readableEnded) end();
    else if (req.destroyed) cut();
    else req.on('data', take).on('end', end).on('error', cut).on('close', cut);
  });
}

/** Whether the body is gzip. @throws FhirError for what else it may be */
function checkEncoding({ headers }: IncomingMessage): boolean {
  const transfer = headers['transfer-encoding']?.trim().toLowerCase() ?? 'chunked';
  // Node undoes this one alone. RFC 9112, 6.1
  if (transfer !== 'chunked') {
    const text = `The server reads Transfer-Encoding chunked, not ${JSON.stringify(transfer.slice(0, 32))}`;
    throw new FhirError('transfer-encoding', text, { headers: { Connection: 'close' } });
  }
  const encoding = headers['content-encoding']?.trim().toLowerCase() ?? 'identity';
  if (encoding === 'identity' || encoding === '') return false;
  if (encoding === 'gzip' || encoding === 'x-gzip') return true;
  const text = `The server reads Content-Encoding gzip, not ${JSON.stringify(encoding.slice(0, 32))}`;
  throw new FhirError('unsupported-media-type', text, { headers: { 'Accept-Encoding': 'gzip' } });
}

/** The body as it comes; the connection stays when the reader stops early. */
async function* pieces(req: IncomingMessage, idleTime: number): AsyncGenerator<Buffer> {
  const iterator = req.iterator({ destroyOnReturn: false });
  let giveUp: (error: FhirError) => void = () => {};
  const idle = new Promise<never>((_resolve, reject) => (giveUp = reject));
  idle.catch(() => {});
  const timer = setTimeout(() => giveUp(noneArrived(idleTime)), idleTime);
  try {
    for (;;) {
      const { value, done } = await Promise.race([iterator.next(), idle]);
      if (done === true) return;
      timer.refresh();
      yield value as Buffer;
    }
  } catch (error) {
    throw error instanceof FhirError ? error : new FhirError('body-incomplete');
  } finally {
    clearTimeout(timer);
    // Not awaited: it waits for a piece that may never come.
    void iterator.return?.();
  }
}

/**
 * Lets the rest of a body that is not wanted pass unread for a short time, so that a client that still sends gets to see
 * the answer; one that goes on and on is cut off.
 *
 * @param most in bytes
 */
export function drain(req: IncomingMessage, most: number): void {
  let size = 0;
  const timer = setTimeout(() => req.destroy(), DRAIN_TIME);
  timer.unref();
  req.on('data', (chunk: Buffer) => {
    size += chunk.length;
    if (size > most) req.destroy();
  });
  req.on('error', () => {});
  req.once('close', () => clearTimeout(timer));
  req.resume();
}
