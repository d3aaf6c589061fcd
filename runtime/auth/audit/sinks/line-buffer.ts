import type { WriteEvent } from '../audit.js';
import { Utf8Buffer } from './utf8-buffer.js';

/** Lines that are made in a row: one among other work takes three times as long. */
const GROUP = 64;
const NEWLINE = Buffer.from('\n');

/** Lines that gather as UTF-8. */
export interface LineBuffer {
  readonly count: number;
  /** @param line called once, soon; without its newline */
  add(line: WriteEvent): void;
  /** All of them, each with a newline; good until `clear`. */
  bytes(): Buffer;
  clear(): void;
}

/** An empty one. */
export function createLineBuffer(): LineBuffer {
  const made = new Utf8Buffer();
  let count = 0;
  let unmade: WriteEvent[] = [];

  function make(): void {
    for (const line of unmade) {
      line(made);
      made.bytes(NEWLINE);
    }
    unmade = [];
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
      return made.written();
    },
    clear() {
      made.clear();
      count = 0;
      unmade = [];
    },
  };
}
