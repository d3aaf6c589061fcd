import { Decimal } from '../../fhir/decimal.js';
import type { IndexEntry, WordsEntry } from '../entry.js';
import { CONTENT, NARRATIVE } from './parameters.js';

/** What a resource may take with its words, in bytes as BSON counts them: a document of MongoDB has 16 MB. */
const ROOM = 15 * 1024 * 1024;

/** A resource of fewer characters, with fewer characters of words, is far below that, and need not be measured. */
const SURELY_SMALL = 512 * 1024;

const LAST_ASCII = 127;

/** The most bytes that a character of a text takes, with what the words of that text take: `é é é …`. */
const MOST_BYTES = 10;

/** Entries may become several rows, for each way of finding them; with their names measured in all examples it is less than this. */
const ROWS = 2;

/** What BSON has beside the bytes of a name or a text: a type, a length, ends. The words of a text are an array of them. */
const AROUND = { name: 2, text: 5, object: 5, word: 13, entry: 64 } as const;

/** A number as BSON has it, and as a note keeps its text. */
const NUMBER = { value: 16, note: 40 } as const;

/**
 * The entries of a resource with as many of their words as there is room for in a store, the same in all of them: a resource is not
 * refused for its words, so the last of them are left out where it is very large. What is short stays whole before what is long.
 *
 * @param characters of the resource as JSON
 */
export function fitWords(entries: readonly IndexEntry[], content: unknown, characters: number): readonly IndexEntry[] {
  const words = entries.filter(isWords);
  const length = words.reduce((sum, { text }) => sum + text.length, 0);
  if (length === 0 || (characters <= SURELY_SMALL && length <= SURELY_SMALL)) return entries;
  const others = entries.filter((entry) => !isWords(entry));
  let room = ROOM - bytesOf(content) - ROWS * bytesOf(others);
  if (words.length * AROUND.entry + length * MOST_BYTES <= room) return entries;
  const fit = (text: string): string => {
    const { end, bytes } = measure(text, room);
    room -= bytes;
    return text.slice(0, end);
  };
  const fitted = new Map<string, string>();
  for (const { param, text } of words.toSorted((left, right) => left.text.length - right.text.length)) {
    if (param !== NARRATIVE) fitted.set(param, fit(text));
  }
  const narrative = words.find(({ param }) => param === NARRATIVE)?.text;
  if (narrative !== undefined)
    fitted.set(NARRATIVE, narrativeWithin(narrative, fitted.get(CONTENT) ?? '') ?? fit(narrative));
  if (words.every(({ param, text }) => fitted.get(param) === text)) return entries;
  return entries.flatMap((entry): IndexEntry[] => {
    if (!isWords(entry)) return [entry];
    const text = fitted.get(entry.param) ?? '';
    return text === '' ? [] : [{ ...entry, text }];
  });
}

function isWords(entry: IndexEntry): entry is WordsEntry {
  return entry.kind === 'words';
}

/** What is left of a narrative where the content, which has its words, may have been cut within it; undefined: it is no part of that. */
function narrativeWithin(narrative: string, content: string): string | undefined {
  if (content.includes(narrative)) return narrative;
  return narrative.startsWith(content) ? content : undefined;
}

/** How far a text may go, and what that takes: itself, and each of its words once more. */
function measure(text: string, room: number): { readonly end: number; readonly bytes: number } {
  const seen = new Set<string>();
  let bytes = AROUND.entry;
  let end = 0;
  for (const [piece, word] of text.matchAll(/(?:\n )?([^ \n]+) /g)) {
    const more = Buffer.byteLength(piece) + (seen.has(word!) ? 0 : Buffer.byteLength(word!) + AROUND.word);
    if (bytes + more > room) return { end, bytes: end === 0 ? 0 : bytes };
    seen.add(word!);
    bytes += more;
    end += piece.length;
  }
  return { end, bytes };
}

/** What a value takes as BSON, or somewhat more. https://bsonspec.org/spec.html */
function bytesOf(value: unknown): number {
  if (typeof value === 'string') return AROUND.text + byteLength(value);
  if (value instanceof Decimal) return NUMBER.value + NUMBER.note + value.text.length;
  if (typeof value !== 'object' || value === null) return NUMBER.value;
  let bytes: number = AROUND.object;
  for (const name in value) {
    bytes += AROUND.name + byteLength(name) + bytesOf((value as Readonly<Record<string, unknown>>)[name]);
  }
  return bytes;
}

/** Characters of which it takes less time to look at each than to ask for their bytes. */
const SHORT = 40;

/** The bytes of a text as UTF-8. */
function byteLength(text: string): number {
  if (text.length > SHORT) return Buffer.byteLength(text);
  for (let i = 0; i < text.length; i++) if (text.charCodeAt(i) > LAST_ASCII) return Buffer.byteLength(text);
  return text.length;
}
