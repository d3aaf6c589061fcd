import { joinedWords, unbounded, type WordsBudget } from './segment.js';

/**
 * Texts as they are searched: of each value a line break, and its words with a space on either side. So words that follow
 * each other within one value do so here, and a value begins behind a line break.
 */

/**
 * UTF-16 units of one entry: some 80,000 words. What follows is not found by its words; a document of MongoDB has 16 MB. How many
 * of these words differ is bounded for all entries of a resource: `TEXT_BOUNDS`.
 */
export const MOST_TEXT = 500_000;

/** A value as a line; empty where it has no words. @param budget see `joinedWords`; absent: without bounds */
export function toLine(value: string, budget: WordsBudget = unbounded()): string {
  const words = joinedWords(value.length > MOST_TEXT ? value.slice(0, MOST_TEXT) : value, budget);
  return words === '' ? '' : `\n ${words} `;
}

/** Both one after the other, as far as there is room; a word that would not fit whole is left out with all behind it. */
export function append(text: string, line: string): string {
  if (text.length + line.length <= MOST_TEXT) return text + line;
  const room = line.slice(0, Math.max(0, MOST_TEXT - text.length));
  const end = room.lastIndexOf(' ');
  return end <= 1 ? text : text + room.slice(0, end + 1);
}
