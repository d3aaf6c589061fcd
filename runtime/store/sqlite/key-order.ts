/**
 * Keys of resources in the order of their ids: an index that ends in the key then has the resources of one value in the
 * order of ids, and a place in it is a page. A new key lies between those of its neighbours by id, where interpolation
 * over the text of the ids puts it, so that later ones find room on either side.
 */

/** A resource beside the new one. */
export interface Neighbour {
  readonly id: string;
  readonly key: number;
}

/** Keys lie between these. */
const LEAST = 0;
const MOST = Number.MAX_SAFE_INTEGER;

/** What is left free beside a neighbour where there is room. */
const MARGIN = 2 ** 12;

/**
 * At the ends of the order more is left free, as a share of what there is, down to a rest that serves a long row of
 * ascending ids: those that come in no order mostly come in between later.
 */
const SHARE = 2 ** 14;
const REST = 2 ** 48;

/**
 * A key for an id between its neighbours (absent: there is none on that side).
 *
 * @param chance from 0 up to 1: keeps types apart that have the same ids
 * @returns undefined where there is no room between them
 */
export function chooseKey(
  id: string,
  before: Neighbour | undefined,
  after: Neighbour | undefined,
  chance: number,
): number | undefined {
  const low = before?.key ?? LEAST;
  const high = after?.key ?? MOST;
  const gap = high - low;
  if (gap < 2) return undefined;
  const isEnd = before === undefined || after === undefined;
  const wanted = isEnd && gap > REST ? Math.floor(gap / SHARE) : MARGIN;
  const margin = Math.min(wanted, Math.floor(gap / 2));
  const part = clamp(position(id, before?.id, after?.id), ...partsOf(before, after));
  const key = clamp(low + Math.floor(gap * part), low + margin, high - margin);
  const aside = Math.floor((chance * margin) / 4);
  return key - low > gap / 2 ? key - aside : key + aside;
}

/** Nothing takes more than half of what is free at an end. */
function partsOf(before: Neighbour | undefined, after: Neighbour | undefined): readonly [number, number] {
  if (before === undefined && after === undefined) return [1 / 8, 7 / 8];
  return [before === undefined ? 1 / 2 : 0, after === undefined ? 1 / 2 : 1];
}

function clamp(value: number, low: number, high: number): number {
  return Math.min(Math.max(value, low), high);
}

/** Characters that ids are made of, fewest first, in their order. A text that ends comes before any that goes on. */
const ALPHABETS = [
  '0123456789',
  '-0123456789abcdef',
  '-.0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz',
];

/** Characters that make a difference in a double. */
const DIGITS = 14;

/** Where an id lies between two others, from 0 to 1: as a number whose digits are characters. */
function position(id: string, before: string | undefined, after: string | undefined): number {
  const shared = before === undefined || after === undefined ? 0 : sharedLength(before, after);
  const texts = [id, before, after].map((text) => text?.slice(shared, shared + DIGITS));
  const alphabet = ALPHABETS.find((each) => texts.every((text) => isWithin(text, each))) ?? ALPHABETS.at(-1)!;
  const [at = 0, low = 0, high = 1] = texts.map((text) => (text === undefined ? undefined : fraction(text, alphabet)));
  return high > low ? (at - low) / (high - low) : 1 / 2;
}

function sharedLength(a: string, b: string): number {
  let length = 0;
  while (length < a.length && a.charCodeAt(length) === b.charCodeAt(length)) length++;
  return length;
}

function isWithin(text: string | undefined, alphabet: string): boolean {
  if (text === undefined) return true;
  for (const character of text) if (!alphabet.includes(character)) return false;
  return true;
}

function fraction(text: string, alphabet: string): number {
  let sum = 0;
  let weight = 1;
  for (let i = 0; i < text.length; i++) {
    weight /= alphabet.length + 1;
    sum += rank(text.charAt(i), alphabet) * weight;
  }
  return sum;
}

/** From 1 on; what is no character of the alphabet goes with the last before it. */
function rank(character: string, alphabet: string): number {
  const found = alphabet.indexOf(character);
  if (found >= 0) return found + 1;
  let count = 0;
  while (count < alphabet.length && alphabet.charAt(count) < character) count++;
  return count;
}
