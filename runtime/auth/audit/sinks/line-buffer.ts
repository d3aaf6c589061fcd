const FIRST = 16 * 1024;

/** Lines that gather as UTF-8: outside of the heap, which thousands of texts would keep busy. */
export interface LineBuffer {
  readonly count: number;
  /** @param line without its newline */
  add(line: string): void;
  /** All of them, each with a newline. */
  bytes(): Buffer;
}

/** An empty one. */
export function createLineBuffer(): LineBuffer {
  let buffer = Buffer.allocUnsafe(FIRST);
  let end = 0;
  let count = 0;
  return {
    get count() {
      return count;
    },
    add(line) {
      // A character has three bytes at most.
      const needed = end + 3 * line.length + 1;
      if (needed > buffer.length) {
        const larger = Buffer.allocUnsafe(Math.max(needed, 2 * buffer.length));
        buffer.copy(larger, 0, 0, end);
        buffer = larger;
      }
      end += buffer.write(`${line}\n`, end);
      count += 1;
    },
    bytes: () => buffer.subarray(0, end),
  };
}
