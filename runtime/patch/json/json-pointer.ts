import { PatchFault } from '../patch-fault.js';
import { quote } from '../../fhir/quote.js';

/** The names and indexes that lead from the root of a JSON document to a value in it. */
export type JsonPointer = readonly string[];

/** The index of the place behind the last value of an array. */
export const END = '-';

const INDEX = /^(?:0|[1-9][0-9]*)$/;

/**
 * Reads a JSON pointer; '' is the whole document. https://www.rfc-editor.org/rfc/rfc6901
 *
 * @throws PatchFault where it does not begin with "/" or has a "~" that is neither "~0" nor "~1"
 */
export function readPointer(text: string, maxLength: number): JsonPointer {
  if (text === '') return [];
  if (!text.startsWith('/')) {
    throw new PatchFault('patch-invalid', `${quote(text)} is no JSON pointer: it has to be empty or begin with "/"`);
  }
  if (/~(?![01])/.test(text)) {
    const rule = 'after "~" there has to be 0 (for "~") or 1 (for "/")';
    throw new PatchFault('patch-invalid', `${quote(text)} is no JSON pointer: ${rule}`);
  }
  const tokens = text.slice(1).split('/', maxLength + 1);
  if (tokens.length > maxLength) {
    throw new PatchFault('patch-target', `${quote(text)} leads more than ${maxLength} levels deep`);
  }
  // In this order: "~01" is "~1", not "/".
  return tokens.map((token) => token.replaceAll('~1', '/').replaceAll('~0', '~'));
}

/** The text of a pointer, in double quotes, the end of a long one left out. */
export function printPointer(pointer: JsonPointer): string {
  return quote(pointer.map((token) => `/${token.replaceAll('~', '~0').replaceAll('/', '~1')}`).join(''));
}

/** The index that a token stands for; undefined for what is none, as `01`, `-1` and `1e0`. */
export function readIndex(token: string): number | undefined {
  return INDEX.test(token) ? Number(token) : undefined;
}

/** Whether the first pointer leads to a value that has the value of the second within it. */
export function isWithin(outer: JsonPointer, inner: JsonPointer): boolean {
  return outer.length < inner.length && outer.every((token, i) => token === inner[i]);
}
