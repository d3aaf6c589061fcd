import type { BlobStore } from '../../store/store.js';

/** A piece of a file. */
export interface Lines {
  readonly lines: readonly string[];
}

/**
 * Writes lines into a blob as they come; without lines there is none.
 *
 * @returns the number of lines
 */
export async function writeFile(blobs: BlobStore, key: string, pieces: AsyncIterable<Lines>): Promise<number> {
  let count = 0;
  async function* toBytes(): AsyncGenerator<Uint8Array> {
    for await (const { lines } of pieces) {
      if (lines.length === 0) continue;
      count += lines.length;
      yield Buffer.from(`${lines.join('\n')}\n`);
    }
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
    const lines = (rest + decoder.decode(bytes, { stream: true })).split('\n');
    rest = lines.pop() ?? '';
    yield lines;
  }
  if (rest !== '') yield [rest];
}
