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

/** What is left free beside a neighbour at least, where there is room. */
const MARGIN = 2 ** 12;

/** What part of the room that is at most: where little is left, ids of the same millisecond say best where they go. */
const MOST_MARGIN = 1 / 8;

/**
 * What part of the room is left free beside an id that comes right behind the last, or before the first: a server's own ids do. Those
 * of requests that were served at the same time come in between. Of a type that has a million 2^31 keys are left for them, of one that
 * has 17 million 2^20.
 */
const ROW_SHARE = 2 ** 21;

/**
 * What is left free below an id of a server that comes right before its successor, if that is no large part of the room. Ids that were
 * made at nearly the same time a day after the last are written in another order: by time alone, all but the first would get a few
 * keys right below it. Others, descending numbers say, are best put where they belong.
 */
const CLOSE = { keys: 2 ** 24, share: 2 ** 5 };

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
  const step = clamp(Math.floor((gap * ROW) / count), 1, MARGIN);
  const width = step * (count - 1);
  const most = Math.max(Math.floor((gap - width) * MOST_MARGIN), 1);
  const margin = (wanted: number): number => clamp(Math.floor(wanted), Math.min(MARGIN, most), most);
  const below = margin(gap / ROW_SHARE);
  const close = isOwn(ownOf(id)) ? Math.min(CLOSE.keys, gap / CLOSE.share) : 0;
  const above = Math.max(below, margin(close));
  const middle = low + Math.floor(gap * partOf(id, near, before, after));
  const first = clamp(middle - Math.floor(width / 2), low + below, high - above - width);
  const aside = Math.floor((chance * Math.min(below, above)) / 4);
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
  '0123456789abcdef',
  '-0123456789abcdef',
  '-.0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz',
];

/** Characters that make a difference in a double. */
const DIGITS = 14;

/** How texts are read as numbers from 0 to 1. */
interface Digits {
  readonly alphabet: string;
  /** Whether none of the texts ends before another. */
  readonly isEven: boolean;
}

/** Where an id lies between two others, from 0 to 1: as a number whose digits are characters. */
function position(id: string, before: string | undefined, after: string | undefined): number {
  // Each begins with the one before it: as numbers all of these lie at the end.
  if (before !== undefined && after !== undefined && id.startsWith(before) && after.startsWith(id)) return 1 / 2;
  const shared = before === undefined || after === undefined ? 0 : sharedLength(before, after);
  const from = shared < OWN.from.length ? 0 : shared;
  const texts = alike([id, before, after].filter((text) => text !== undefined).map((text) => text.slice(from)));
  const slices = texts.map((text) => text.slice(0, DIGITS));
  const alphabet = ALPHABETS.find((each) => slices.every((text) => isWithin(text, each))) ?? ALPHABETS.at(-1)!;
  const digits = { alphabet, isEven: slices.every(({ length }) => length === slices[0]!.length) };
  const place = from > 0 ? fraction : widened;
  const places = slices.map((text) => place(text, digits));
  const at = places[0]!;
  const low = before === undefined ? 0 : places[1]!;
  const high = after === undefined ? 1 : places.at(-1)!;
  return high > low ? (at - low) / (high - low) : 1 / 2;
}

/** Texts without hyphens, where they have them at the same places: these are no digits. */
function alike(texts: readonly string[]): readonly string[] {
  const [shape, ...others] = texts.map((text) => text.replaceAll(/[^-]/g, 'x'));
  return others.every((other) => other === shape) ? texts.map((text) => text.replaceAll('-', '')) : texts;
}

/** Where ids of a server begin, those of the years 2022 to 2039: they are UUIDs of version 7. */
const OWN = { from: '018', to: '020' };

/** Whether an id has the form of a server's. */
function isOwn(id: string): boolean {
  return id >= OWN.from && id < OWN.to && /^[0-9a-f]{8}-[0-9a-f]{4}-7/.test(id);
}

/** Ids of a server get half of all the room: others, UUIDs of chance say, would leave it what is between two of them. */
function widened(text: string, digits: Digits): number {
  const at = fraction(text, digits);
  const [from, to] = [fraction(OWN.from, digits), fraction(OWN.to, digits)];
  if (at < from) return at / from / 4;
  return at < to ? 1 / 4 + (at - from) / (to - from) / 2 : 3 / 4 + (at - to) / (1 - to) / 4;
}

function sharedLength(a: string, b: string): number {
  let length = 0;
  while (length < a.length && a.charCodeAt(length) === b.charCodeAt(length)) length++;
  return length;
}

function isWithin(text: string, alphabet: string): boolean {
  for (const character of text) if (!alphabet.includes(character)) return false;
  return true;
}

function fraction(text: string, { alphabet, isEven }: Digits): number {
  const least = isEven ? 0 : 1;
  let sum = 0;
  let weight = 1;
  for (let i = 0; i < text.length; i++) {
    weight /= alphabet.length + least;
    sum += Math.max(rank(text.charAt(i), alphabet) - 1 + least, 0) * weight;
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
