import { fold } from '../search/values/fold.js';

/** Something that can be found by words. */
export interface Worded {
  readonly code: string;
  readonly display?: string;
  readonly designations: readonly { readonly value: string }[];
}

/** Finds items of a list by words in time linear in the length of their texts, with a small constant: one text is searched. */
export interface TextIndex {
  /** Positions in the list, ascending. Each word of the query begins a word of the code, the display or a designation. */
  find(query: string): readonly number[];
}

/** Makes the index of a list. Case, accents and punctuation do not count. */
export function indexTexts(items: readonly Worded[]): TextIndex {
  const starts = new Uint32Array(items.length + 1);
  const lines: string[] = [];
  let length = 0;
  for (const [i, { code, display, designations }] of items.entries()) {
    const line = ` ${wordsOf([code, display ?? '', ...designations.map(({ value }) => value)].join(' '))}\n`;
    starts[i] = length;
    length += line.length;
    lines.push(line);
  }
  starts[items.length] = length;
  const text = lines.join('');
  return { find: (query) => findIn(text, starts, wordsOf(query).split(' ').filter((word) => word !== '')) }; // prettier-ignore
}

function wordsOf(text: string): string {
  const folded = fold(text);
  return /^[a-z0-9 ]*$/.test(folded) ? folded : folded.replaceAll(/[^\p{L}\p{N}]+/gu, ' ').trim();
}

function findIn(text: string, starts: Uint32Array, words: readonly string[]): readonly number[] {
  const count = starts.length - 1;
  if (words.length === 0) return Array.from({ length: count }, (_, i) => i);
  const [first = '', ...others] = rarestFirst(text, words);
  const found: number[] = [];
  let line = 0;
  for (let at = nextWord(text, first, 0); at >= 0; at = nextWord(text, first, starts[line + 1]!)) {
    line = lineOf(starts, at, line);
    const own = others.length === 0 ? '' : text.slice(starts[line], starts[line + 1]);
    if (others.every((word) => nextWord(own, word, 0) >= 0)) found.push(line);
    if (line + 1 >= count) break;
  }
  return found;
}

/** Where the next word begins with these letters. Blanks are too frequent to be searched for with them. */
function nextWord(text: string, letters: string, from: number): number {
  let at = text.indexOf(letters, from);
  while (at > 0 && text.charCodeAt(at - 1) !== 32) at = text.indexOf(letters, at + 1);
  return at;
}

/** Occurrences that are looked at to judge how rare a word is. */
const SAMPLE = 100;

/** Words, the rarest first: that whose first occurrences go furthest into the text. */
function rarestFirst(text: string, words: readonly string[]): readonly string[] {
  if (words.length === 1) return words;
  const reach = (word: string): number => {
    let at = nextWord(text, word, 0);
    for (let i = 1; at >= 0 && i < SAMPLE; i++) at = nextWord(text, word, at + 1);
    return at < 0 ? text.length : at;
  };
  return words
    .map((word) => ({ word, reach: reach(word) }))
    .sort((a, b) => b.reach - a.reach)
    .map(({ word }) => word);
}

/** The line that a position is in: near the one that the search is at, in steps that double. */
function lineOf(starts: Uint32Array, at: number, from: number): number {
  const last = starts.length - 1;
  let [low, step] = [from, 1];
  while (low + step < last && starts[low + step]! <= at) {
    low += step;
    step *= 2;
  }
  let high = Math.min(low + step, last);
  while (low + 1 < high) {
    const middle = (low + high) >>> 1;
    if (starts[middle]! <= at) low = middle;
    else high = middle;
  }
  return low;
}
