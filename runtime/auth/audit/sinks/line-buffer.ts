const FIRST = 64 * 1024;
/** Beyond this its memory is not used again. */
const KEPT = 1024 * 1024;
/** Lines that are made in a row: one among other work takes three times as long. */
const GROUP = 64;
/** Characters that are encoded together: more would keep the heap busy. */
const TEXT = 16 * 1024;

/** Makes a line, without its newline. */
export type MakeLine = () => string;

/** Lines that gather as UTF-8: outside of the heap, and in memory that is used again. */
export interface LineBuffer {
  readonly count: number;
  /** @param line called once, soon */
  add(line: MakeLine): void;
  /** All of them, each with a newline; good until `clear`. */
  bytes(): Buffer;
  clear(): void;
}

/** An empty one. */
export function createLineBuffer(): LineBuffer {
  let buffer = Buffer.allocUnsafe(FIRST);
  let end = 0;
  let count = 0;
  let unmade: MakeLine[] = [];

  function make(): void {
    let text = '';
    for (const line of unmade) {
      text += `${line()}\n`;
      if (text.length < TEXT) continue;
      encode(text);
      text = '';
    }
    encode(text);
    unmade = [];
  }

  function encode(text: string): void {
    // A character has three bytes at most.
    const needed = end + 3 * text.length;
    if (needed > buffer.length) {
      const larger = Buffer.allocUnsafe(Math.max(needed, 2 * buffer.length));
      buffer.copy(larger, 0, 0, end);
      buffer = larger;
    }
    end += buffer.write(text, end);
  }

  return {
    get count() {
      return count;
    },
    add(line) {
      count += 1;
      if (unmade.push(line) === GROUP) make();
    },
    bytes() {
      make();
      return buffer.subarray(0, end);
    },
    clear() {
      if (buffer.length > KEPT) buffer = Buffer.allocUnsafe(FIRST);
      end = 0;
      count = 0;
      unmade = [];
    },
  };
}
