import { fold } from '../indexing/values/fold.js';
import type { Effort } from './effort.js';

/** Something that can be found by words. */
export interface Worded {
  readonly code: string;
  readonly display?: string;
  readonly designations: readonly { readonly value: string }[];
}

/** Finds items of a list by words in time linear in the length of their texts, with a small constant: one text is searched. */
export interface TextIndex {
  /** Positions in the list, ascending. Each word of the query begins a word of the code, the display or a designation. */
  find(query: string, effort: Effort): Promise<readonly number[]>;
}

/** Characters whose case and accents are taken away in a step. */
const FOLDED_IN_STEP = 25;

/** Makes the index of a list. Case, accents and punctuation do not count. @throws FhirError `expansion-too-costly` */
export async function indexTexts(items: readonly Worded[], effort: Effort): Promise<TextIndex> {
  const starts = new Uint32Array(items.length + 1);
  const lines: string[] = [];
  let length = 0;
  for (const [i, { code, display, designations }] of items.entries()) {
    const turn = effort.pace();
    if (turn !== undefined) await turn;
    const line = ` ${wordsOf([code, display ?? '', ...designations.map(({ value }) => value)].join(' '))}\n`;
    starts[i] = length;
    length += line.length;
    effort.spend(line.length / FOLDED_IN_STEP);
    lines.push(line);
  }
  starts[items.length] = length;
  const text = lines.join('');
  return { find: (query, own) => findIn(text, starts, wordsIn(query), own) };
}

/** The words of a query, each once. One that begins another is left out: what is found for that has both. */
function wordsIn(query: string): readonly string[] {
  const words = [...new Set(wordsOf(query).split(' '))].filter((word) => word !== '').sort();
  return words.filter((word, i) => words[i + 1]?.startsWith(word) !== true);
}

function wordsOf(text: string): string {
  const folded = fold(text);
  return /^[a-z0-9 ]*$/.test(folded) ? folded : folded.replaceAll(/[^\p{L}\p{N}]+/gu, ' ').trim();
}

async function findIn(
  text: string,
  starts: Uint32Array,
  words: readonly string[],
  effort: Effort,
): Promise<readonly number[]> {
  const count = starts.length - 1;
  if (words.length === 0) return Array.from({ length: count }, (_, i) => i);
  const [first, ...others] = await rarestFirst(text, words, effort);
  if (first === undefined) return [];
  const found: number[] = [];
  let line = 0;
  effort.spendText(text.length);
  for (let at = nextWord(text, first, 0); at >= 0; at = nextWord(text, first, starts[line + 1]!)) {
    line = lineOf(starts, at, line);
    const own = others.length === 0 ? '' : text.slice(starts[line], starts[line + 1]);
    const has = (word: string): boolean => {
      effort.spendText(own.length);
      return nextWord(own, word, 0) >= 0;
    };
    if (others.every(has)) found.push(line);
    if (line + 1 >= count) break;
    const turn = effort.pace();
    if (turn !== undefined) await turn;
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

/** Words, the rarest first: that whose first occurrences go furthest into the text. None where the text lacks one of them. */
async function rarestFirst(text: string, words: readonly string[], effort: Effort): Promise<readonly string[]> {
  if (words.length === 1) return words;
  const reached: { word: string; reach: number }[] = [];
  for (const word of words) {
    const turn = effort.pace();
    if (turn !== undefined) await turn;
    let at = nextWord(text, word, 0);
    if (at < 0) return [];
    for (let i = 1; at >= 0 && i < SAMPLE; i++) at = nextWord(text, word, at + 1);
    const reach = at < 0 ? text.length : at;
    effort.spendText(reach);
    reached.push({ word, reach });
  }
  return reached.sort((a, b) => b.reach - a.reach).map(({ word }) => word);
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
