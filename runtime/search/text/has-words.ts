import type { WordsEntry } from '../../indexing/entry.js';
import type { WordsTest } from '../query/query.js';

/** Words that one value asks for, at most: each is looked up. */
export const MOST_WORDS = 50;

/** Whether the words of a parameter fulfil a test. */
export function hasWords(entry: Pick<WordsEntry, 'text'>, test: WordsTest): boolean {
  if ('phrase' in test) return entry.text.includes(phraseIn(test.phrase));
  if ('begins' in test) return entry.text.includes(beginningIn(test.begins));
  if ('some' in test) return test.some.some((each) => hasWords(entry, each));
  return test.all.every((each) => hasWords(entry, each)) && !test.none.some((each) => hasWords(entry, each));
}

/** Returns the part of an entry's text that it has where a value contains these words one after another. */
export function phraseIn(words: readonly string[]): string {
  return ` ${words.join(' ')} `;
}

/** Returns the part of an entry's text that it has where a value begins with these words. */
export function beginningIn(words: readonly string[]): string {
  return `\n ${words.join(' ')}`;
}

/** How many words a test looks for. */
export function countWords(test: WordsTest): number {
  if ('phrase' in test) return test.phrase.length;
  if ('begins' in test) return test.begins.length;
  const parts = 'some' in test ? test.some : [...test.all, ...test.none];
  return parts.reduce((sum, each) => sum + countWords(each), 0);
}
