import { FhirError } from '../../fhir/errors.js';
import { decodeUtf8 } from '../../format/utf8.js';
import type { BlobStore } from '../../store/store.js';

/** Bytes that are read at once. */
const PIECE = 1024 * 1024;

const NEWLINE = 10;

/** Whole lines of a file. */
export interface LinePage {
  /** Without white space around; a fault: the line is longer than it may be, or no UTF-8. */
  readonly lines: readonly (string | FhirError)[];
  /** Where the next page begins; absent: this was the last one. */
  readonly next?: number;
}

/**
 * Reads the whole lines from a place on: about a megabyte of them, or one that is longer.
 *
 * @param at in bytes: the beginning of a line
 * @param longest line, in bytes
 * @throws Error where there is no such file
 */
export async function readLinePage(blobs: BlobStore, key: string, at: number, longest: number): Promise<LinePage> {
  let bytes: Buffer = Buffer.alloc(0);
  let isTooLong = false;
  for (let from = at; ; from += PIECE) {
    const found = await blobs.get(key, { from, to: from + PIECE - 1 });
    if (found === undefined) throw new Error('the file is missing');
    const parts: Uint8Array[] = [];
    for await (const part of found.stream) parts.push(Buffer.from(part));
    const piece = Buffer.concat(parts);
    const isEnd = from + PIECE >= found.size;
    if (isTooLong) {
      const end = piece.indexOf(NEWLINE);
      if (end >= 0 || isEnd) return pageOf([tooLong()], end < 0 ? found.size : from + end + 1, found.size);
      continue;
    }
    bytes = bytes.length === 0 ? piece : Buffer.concat([bytes, piece]);
    const end = bytes.lastIndexOf(NEWLINE);
    if (isEnd) return pageOf(split(bytes), found.size, found.size);
    if (end >= 0) return pageOf(split(bytes.subarray(0, end)), at + end + 1, found.size);
    if (bytes.length > longest) {
      isTooLong = true;
      bytes = Buffer.alloc(0);
    }
  }
}

function tooLong(): FhirError {
  return new FhirError('resource-too-large', 'The line is longer than a resource may be');
}

function pageOf(lines: readonly (string | FhirError)[], next: number, size: number): LinePage {
  return next < size ? { lines, next } : { lines };
}

function split(bytes: Buffer): (string | FhirError)[] {
  const lines: (string | FhirError)[] = [];
  for (let at = 0; at < bytes.length;) {
    const found = bytes.indexOf(NEWLINE, at);
    const end = found < 0 ? bytes.length : found;
    lines.push(decode(bytes.subarray(at, end)));
    at = end + 1;
  }
  return lines;
}

/** Nothing is repaired: what is not UTF-8 is a fault of its line. */
function decode(line: Buffer): string | FhirError {
  try {
    return decodeUtf8(line).trim();
  } catch (error) {
    if (error instanceof FhirError) return error;
    throw error;
  }
}
