import type { IncomingMessage, ServerResponse } from 'node:http';

import { FhirError } from '../../fhir/errors.js';
import type { Limits } from '../../fhir/limits.js';
import { inflate } from '../../format/compress-inflate.js';

/** The limits of a body. */
export type BodyLimits = Pick<Limits, 'body' | 'bodyIdleTime'>;

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
  const chunks: Buffer[] = [];
  for await (const chunk of openBody(req, res, limits)) chunks.push(chunk);
  const [only] = chunks;
  return chunks.length === 1 && only !== undefined ? only : Buffer.concat(chunks);
}

/**
 * The bytes of a body, inflated, as they come; no more are read than may be.
 *
 * @throws FhirError `body-too-large`, `body-incomplete`, `body-encoding`, `request-timeout`, `unsupported-media-type`
 */
export async function* openBody(req: IncomingMessage, res: ServerResponse, limits: BodyLimits): AsyncGenerator<Buffer> {
  const isGzip = checkEncoding(req);
  const tooLarge = (): FhirError =>
    new FhirError('body-too-large', `A body may have ${limits.body} bytes${isGzip ? ' when inflated' : ''}`);
  if (Number(req.headers['content-length'] ?? 0) > limits.body) throw tooLarge();
  // The client waits for this; one whose body is not wanted never sends it.
  if (req.headers.expect !== undefined && req.httpVersionMinor > 0) res.writeContinue();
  const raw = pieces(req, limits.bodyIdleTime);
  let size = 0;
  for await (const chunk of isGzip ? inflate(raw) : raw) {
    size += chunk.length;
    if (size > limits.body) throw tooLarge();
    yield chunk;
  }
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
  const timer = setTimeout(() => {
    const text = `Nothing of the body arrived for ${idleTime / 1000} s`;
    giveUp(new FhirError('request-timeout', text, { headers: { Connection: 'close' } }));
  }, idleTime);
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
