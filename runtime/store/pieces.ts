import { createHash } from 'node:crypto';

import { FhirError } from '../fhir/errors.js';

/** Size of a piece of a blob, in bytes: what one write adds, one read holds, and all that is kept in memory of a stream. */
export const PIECE = 256 * 1024;

/** Pieces of an upload that may be under way to the store. */
const AHEAD = 3;

/** A content that was sent as a whole. */
export interface SentBlob {
  readonly size: number;
  readonly sha256: string;
}

/**
 * Memory for pieces, which threads share. It is used again: what is handed to another thread becomes garbage there, which that thread
 * collects after tens of megabytes.
 */
const spare: Uint8Array[] = [];

/** Pieces of memory that are kept. */
const SPARE = 8;

function keep(piece: Uint8Array): void {
  if (piece.length === PIECE && piece.buffer instanceof SharedArrayBuffer && spare.length < SPARE) spare.push(piece);
}

/**
 * Sends a content in pieces, of which few are under way at a time.
 *
 * @param send stores the piece with a number, from 0 on; its memory is used again when it resolves
 * @throws FhirError `body-too-large` for more bytes than `limit`; what `send` throws
 */
export async function sendPieces(
  content: AsyncIterable<Uint8Array>,
  limit: number,
  send: (bytes: Uint8Array, n: number) => Promise<void>,
): Promise<SentBlob> {
  const hash = createHash('sha256');
  const underWay: Promise<void>[] = [];
  let size = 0;
  let n = 0;
  for await (const bytes of cutPieces(content, PIECE)) {
    size += bytes.length;
    if (size > limit) throw new FhirError('body-too-large', `At most ${limit} bytes are taken`);
    hash.update(bytes);
    const sent = send(bytes, n++);
    // Awaited later; meanwhile it may fail.
    sent.then(
      () => keep(bytes),
      () => {},
    );
    underWay.push(sent);
    if (underWay.length >= AHEAD) await underWay.shift();
  }
  await Promise.all(underWay);
  return { size, sha256: hash.digest('hex') };
}

/**
 * Reads bytes of a blob, a piece at a time, each when it is wanted.
 *
 * @param size of the whole blob
 * @param read returns the piece with a number; undefined: it was removed
 * @throws FhirError `store-unavailable` where the blob is removed while it is read
 */
export async function* readPieces(
  size: number,
  range: { readonly from?: number; readonly to?: number } | undefined,
  read: (n: number) => Promise<Uint8Array | undefined>,
): AsyncGenerator<Uint8Array> {
  const from = Math.max(0, range?.from ?? 0);
  const to = Math.min(range?.to ?? Infinity, size - 1);
  for (let n = Math.floor(from / PIECE); n * PIECE <= to; n++) {
    const piece = await read(n);
    if (piece === undefined) throw new FhirError('store-unavailable', 'The content was removed while it was read');
    yield piece.subarray(Math.max(0, from - n * PIECE), Math.min(piece.length, to - n * PIECE + 1));
  }
}

/** The bytes of a stream anew, in pieces of equal size but the last. */
async function* cutPieces(content: AsyncIterable<Uint8Array>, size: number): AsyncGenerator<Uint8Array> {
  let piece: Uint8Array | undefined;
  let filled = 0;
  try {
    for await (const chunk of content) {
      for (let at = 0; at < chunk.length;) {
        piece ??= spare.pop() ?? new Uint8Array(new SharedArrayBuffer(size));
        const length = Math.min(size - filled, chunk.length - at);
        piece.set(chunk.subarray(at, at + length), filled);
        at += length;
        filled += length;
        if (filled < size) continue;
        const whole = piece;
        [piece, filled] = [undefined, 0];
        yield whole;
      }
    }
    if (piece !== undefined) yield Uint8Array.from(piece.subarray(0, filled));
  } finally {
    if (piece !== undefined) keep(piece);
  }
}
