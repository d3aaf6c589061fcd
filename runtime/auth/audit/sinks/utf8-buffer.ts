import { ID_LENGTH, writeNewId } from '../../../fhir/id.js';
import type { EventText } from '../audit.js';

const FIRST = 64 * 1024;
/** Beyond this its memory is not used again. */
const KEPT = 1024 * 1024;

/**
 * UTF-8 that grows at its end: outside of the heap, and in memory that is used again. Texts that are in every event are
 * written character by character, which for few of them is quicker than a call of the encoder.
 */
export class Utf8Buffer implements EventText {
  private buffer = Buffer.allocUnsafe(FIRST);
  private end = 0;

  bytes(known: Uint8Array): void {
    this.makeRoom(known.length);
    this.buffer.set(known, this.end);
    this.end += known.length;
  }

  text(text: string): void {
    // A character has three bytes at most.
    this.makeRoom(3 * text.length);
    this.end += this.buffer.write(text, this.end);
  }

  quoted(text: string): void {
    const { length } = text;
    this.makeRoom(length);
    const { buffer } = this;
    let at = this.end;
    for (let i = 0; i < length; i++) {
      const code = text.charCodeAt(i);
      if (code < 0x20 || code > 0x7e || code === QUOTE || code === BACKSLASH) {
        return this.text(JSON.stringify(text).slice(1, -1));
      }
      buffer[at++] = code;
    }
    this.end = at;
  }

  newId(now: number): void {
    this.makeRoom(ID_LENGTH);
    writeNewId(this.buffer, this.end, now);
    this.end += ID_LENGTH;
  }

  /** All that was written; good until `clear`. */
  written(): Buffer {
    return this.buffer.subarray(0, this.end);
  }

  clear(): void {
    if (this.buffer.length > KEPT) this.buffer = Buffer.allocUnsafe(FIRST);
    this.end = 0;
  }

  private makeRoom(more: number): void {
    const needed = this.end + more;
    if (needed <= this.buffer.length) return;
    const larger = Buffer.allocUnsafe(Math.max(needed, 2 * this.buffer.length));
    this.buffer.copy(larger, 0, 0, this.end);
    this.buffer = larger;
  }
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
