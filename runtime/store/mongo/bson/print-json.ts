import { Decimal128 } from 'mongodb';

import type { NumberText } from './documents.js';
import { skipName, TYPE } from './bson.js';

/** A buffer that grew beyond this for a large document is not kept. */
const MAX_KEPT = 1024 * 1024;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
/** Second byte of the escapes that have a short form. */
const SHORT_ESCAPES = new Map([
  [8, 'b'],
  [9, 't'],
  [10, 'n'],
  [12, 'f'],
  [13, 'r'],
  [QUOTE, '"'],
  [BACKSLASH, '\\'],
]);

let out = Buffer.allocUnsafe(64 * 1024);
let at = 0;
/** All bytes of strings or-ed: whether any is beyond ASCII. */
let seen = 0;
let place = 0;
let nextNote = 0;
let noted: readonly NumberText[] = [];

/**
 * The JSON text of a BSON document (https://bsonspec.org), as `JSON.stringify` writes it. Strings are UTF-8 in both, so
 * bytes are copied; making objects of them first would take twice the time.
 *
 * @param start where the document begins
 * @param notes texts of the numbers that BSON could not keep
 * @throws Error where it holds what JSON cannot
 */
export function printJson(bytes: Buffer, start: number, notes: readonly NumberText[] = []): string {
  at = 0;
  seen = 0;
  place = 0;
  nextNote = 0;
  noted = notes;
  printContainer(bytes, start, false);
  const text = seen < 0x80 ? out.toString('latin1', 0, at) : out.toString('utf8', 0, at);
  if (out.length > MAX_KEPT) out = Buffer.allocUnsafe(64 * 1024);
  return text;
}

function ensure(more: number): void {
  if (at + more <= out.length) return;
  const larger = Buffer.allocUnsafe(Math.max(out.length * 2, at + more));
  out.copy(larger, 0, 0, at);
  out = larger;
}

function printAscii(text: string): void {
  ensure(text.length);
  for (let i = 0; i < text.length; i++) out[at++] = text.charCodeAt(i);
}

/** @returns where it ends */
function printContainer(bytes: Buffer, start: number, isArray: boolean): number {
  const end = start + bytes.readInt32LE(start) - 1;
  let from = start + 4;
  ensure(2);
  out[at++] = isArray ? 0x5b : 0x7b;
  let isFirst = true;
  while (from < end) {
    const type = bytes[from]!;
    const name = from + 1;
    const value = skipName(bytes, name);
    ensure(2);
    if (!isFirst) out[at++] = 0x2c;
    isFirst = false;
    if (!isArray) {
      printString(bytes, name, value - 1);
      ensure(1);
      out[at++] = 0x3a;
    }
    from = printValue(bytes, type, value);
  }
  ensure(1);
  out[at++] = isArray ? 0x5d : 0x7d;
  return end + 1;
}

/** @returns where it ends */
function printValue(bytes: Buffer, type: number, from: number): number {
  switch (type) {
    case TYPE.string: {
      const end = from + 4 + bytes.readInt32LE(from);
      printString(bytes, from + 4, end - 1);
      return end;
    }
    case TYPE.document:
      return printContainer(bytes, from, false);
    case TYPE.array:
      return printContainer(bytes, from, true);
    case TYPE.int32:
      printNumber(String(bytes.readInt32LE(from)));
      return from + 4;
    case TYPE.double:
      // As JSON.stringify has it, -0 is 0.
      printNumber(String(bytes.readDoubleLE(from)));
      return from + 8;
    case TYPE.int64:
      printNumber(String(bytes.readBigInt64LE(from)));
      return from + 8;
    case TYPE.decimal128:
      printNumber(undefined, bytes.subarray(from, from + 16));
      return from + 16;
    case TYPE.boolean:
      printAscii(bytes[from] === 0 ? 'false' : 'true');
      return from + 1;
    case TYPE.null:
      printAscii('null');
      return from;
    default:
      throw new Error(`a document holds the BSON type ${type}, which no resource has; was it edited by hand?`);
  }
}

function printNumber(text: string | undefined, decimal?: Buffer): void {
  const note = noted[nextNote];
  if (note !== undefined && note[0] === place) {
    nextNote++;
    text = note[1];
  }
  place++;
  printAscii(text ?? new Decimal128(decimal!).toString());
}

function printString(bytes: Buffer, from: number, end: number): void {
  ensure(end - from + 8);
  out[at++] = QUOTE;
  for (let i = from; i < end; i++) {
    const byte = bytes[i]!;
    seen |= byte;
    if (byte >= 0x20 && byte !== QUOTE && byte !== BACKSLASH) out[at++] = byte;
    else {
      const short = SHORT_ESCAPES.get(byte);
      printAscii(short === undefined ? `\\u${byte.toString(16).padStart(4, '0')}` : `\\${short}`);
      ensure(end - i + 8);
    }
  }
  out[at++] = QUOTE;
}
