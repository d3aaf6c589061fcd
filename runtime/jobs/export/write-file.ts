import type { BlobStore } from '../../store/store.js';

/** A piece of a file. */
export interface Lines {
  /** Without their newlines; or all of them as bytes, each with its newline, in memory that is not used any more. */
  readonly lines: readonly string[] | Uint8Array;
  /** How many lines. */
  readonly count: number;
}

/** Bytes that are collected before they go to the store. */
const PIECE = 256 * 1024;

/** Bytes that are read as lines together: few, so that they are garbage soon. */
const READ = 32 * 1024;

/** The byte that ends a line. */
export const NEWLINE = 10;

/**
 * Writes lines into a blob as they come; without lines there is none.
 *
 * @returns the number of lines
 */
export async function writeFile(blobs: BlobStore, key: string, pieces: AsyncIterable<Lines>): Promise<number> {
  let count = 0;
  const encoder = new TextEncoder();
  async function* toBytes(): AsyncGenerator<Uint8Array> {
    // The store copies what it gets before it asks for more.
    const room = new Uint8Array(PIECE);
    let filled = 0;
    for await (const piece of pieces) {
      count += piece.count;
      if (piece.lines instanceof Uint8Array) {
        if (filled > 0) yield room.subarray(0, filled);
        filled = 0;
        if (piece.lines.length > 0) yield piece.lines;
        continue;
      }
      for (const line of piece.lines) {
        // A character takes three bytes at most.
        if (filled > 0 && filled + line.length * 3 + 1 > PIECE) {
          yield room.subarray(0, filled);
          filled = 0;
        }
        if (line.length * 3 + 1 > PIECE) yield encoder.encode(`${line}\n`);
        else {
          filled += encoder.encodeInto(line, room.subarray(filled)).written;
          room[filled++] = NEWLINE;
        }
      }
    }
    if (filled > 0) yield room.subarray(0, filled);
  }
  const bytes = toBytes();
  const first = await bytes.next();
  if (first.done === true) return 0;
  await blobs.put(key, withFirst(first.value, bytes), Infinity);
  return count;
}

async function* withFirst<T>(first: T, rest: AsyncIterable<T>): AsyncGenerator<T> {
  yield first;
  yield* rest;
}

/** The lines of a file, some at a time. */
export async function* readLines(blobs: BlobStore, key: string): AsyncGenerator<readonly string[]> {
  const content = await blobs.get(key);
  if (content === undefined) throw new Error(`the file ${key} is missing`);
  const decoder = new TextDecoder();
  let rest = '';
  for await (const bytes of content.stream) {
    for (let at = 0; at < bytes.length; at += READ) {
      const lines = (rest + decoder.decode(bytes.subarray(at, at + READ), { stream: true })).split('\n');
      rest = lines.pop() ?? '';
      yield lines;
    }
  }
  if (rest !== '') yield [rest];
}
