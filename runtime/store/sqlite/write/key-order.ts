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

/** Where ids without a beginning of their own type are put, and what part of the room beside those with the same is taken. */
const BESIDE = 1 / 8;
const ROOM = 1 / 4;

/** What part of the room between its neighbours a row of ids takes at most. */
const ROW = 1 / 16;

/** Keys of a row of ids, each so far behind the one before it. */
export interface KeyRow {
  readonly first: number;
  readonly step: number;
}

/**
 * Keys for ids between their neighbours (absent: there is none on that side). Several are what is within one resource, whose ids
 * differ in what follows `#` alone: nothing will ever come between them. Ids that begin with a type, as those do, are kept apart
 * from those of other types, so that there is room for more of each.
 *
 * @param id the first of them
 * @param chance from 0 up to 1: keeps types apart that have the same ids
 * @returns undefined where there is no room between them
 */
export function chooseKeys(
  id: string,
  count: number,
  before: Neighbour | undefined,
  after: Neighbour | undefined,
  chance: number,
): KeyRow | undefined {
  const low = before?.key ?? LEAST;
  const high = after?.key ?? MOST;
  const gap = high - low;
  if (gap <= count) return undefined;
  const near = { before: ownPart(id, before), after: ownPart(id, after) };
  const isEnd = near.before === undefined || near.after === undefined;
  const wanted = isEnd && gap > REST ? Math.floor(gap / SHARE) : MARGIN;
  const step = clamp(Math.floor((gap * ROW) / count), 1, MARGIN);
  const width = step * (count - 1);
  const margin = Math.min(wanted, Math.floor((gap - width) / 2));
  const middle = low + Math.floor(gap * partOf(id, near, before, after));
  const first = clamp(middle - Math.floor(width / 2), low + margin, high - margin - width);
  const aside = Math.floor((chance * margin) / 4);
  return { first: first - low > gap / 2 ? first - aside : first + aside, step };
}

/** What an id begins with: `MedicationRequest/` of what is within one, nothing of others. */
function beginningOf(id: string): string {
  return id.slice(0, id.indexOf('/') + 1);
}

/** What is after that, up to the mark of what is within it. */
function ownOf(id: string): string {
  const [whole = ''] = id.slice(beginningOf(id).length).split('#', 1);
  return whole;
}

/** What tells a neighbour from others with the same beginning; undefined: it has another one, or is not there. */
function ownPart(id: string, neighbour: Neighbour | undefined): string | undefined {
  return neighbour !== undefined && beginningOf(neighbour.id) === beginningOf(id) ? ownOf(neighbour.id) : undefined;
}

/** Where between its neighbours an id goes, from 0 to 1. Nothing takes more than half of what is free at an end. */
function partOf(
  id: string,
  near: { readonly before: string | undefined; readonly after: string | undefined },
  before: Neighbour | undefined,
  after: Neighbour | undefined,
): number {
  const beginning = beginningOf(id);
  const at = position(ownOf(id), near.before, near.after);
  if (near.before !== undefined && near.after !== undefined) return at;
  // What begins otherwise wants room, too.
  const room = beginning === '' ? 1 : ROOM;
  if (near.before !== undefined) return Math.min(at * room, 1 / 2);
  if (near.after !== undefined) return Math.max(1 - (1 - at) * room, 1 / 2);
  if (beginning === '') return clamp(at, 1 / 8, 7 / 8);
  if (before === undefined) return after === undefined ? 1 / 2 : 1 - BESIDE;
  return after === undefined ? BESIDE : 1 / 2;
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
