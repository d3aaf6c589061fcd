const FIRST = 64 * 1024;
/** Beyond this its memory is not used again. */
const KEPT = 1024 * 1024;
/** Lines that are encoded together: alone each takes twice as long, and more would keep the heap busy. */
const GROUP = 16;

/** Lines that gather as UTF-8: outside of the heap, and in memory that is used again. */
export interface LineBuffer {
  readonly count: number;
  /** @param line without its newline */
  add(line: string): void;
  /** All of them, each with a newline; good until `clear`. */
  bytes(): Buffer;
  clear(): void;
}

/** An empty one. */
export function createLineBuffer(): LineBuffer {
  let buffer = Buffer.allocUnsafe(FIRST);
  let end = 0;
  let count = 0;
  /** Lines that are not in the buffer yet. */
  let text = '';

  function encode(): void {
    // A character has three bytes at most.
    const needed = end + 3 * text.length;
    if (needed > buffer.length) {
      const larger = Buffer.allocUnsafe(Math.max(needed, 2 * buffer.length));
      buffer.copy(larger, 0, 0, end);
      buffer = larger;
    }
    end += buffer.write(text, end);
    text = '';
  }

  return {
    get count() {
      return count;
    },
    add(line) {
      text += `${line}\n`;
      count += 1;
      if (count % GROUP === 0) encode();
    },
    bytes() {
      encode();
      return buffer.subarray(0, end);
    },
    clear() {
      if (buffer.length > KEPT) buffer = Buffer.allocUnsafe(FIRST);
      end = 0;
      count = 0;
      text = '';
    },
  };
}
