import type { WordsTest } from '../query/query.js';
import { beginningIn, phraseIn } from './has-words.js';

/** How soon more occurrences mean little, how much the length of a text counts, and the length that counts for nothing, in words. */
const BM25 = { k: 1.2, b: 0.75, length: 200 };

/**
 * How well the words of a resource answer a test, from 0 to 1: for each phrase that is to be there how often it is there, less
 * in longer texts, as BM25 has it, and of all phrases the mean. It depends on nothing else than the text, so that it is the same
 * on every store and page; what is rare in the store counts no more than what is frequent. Four decimals.
 *
 * @param asked each test and the words of its parameter, if there are any
 */
export function scoreWords(asked: readonly { readonly test: WordsTest; readonly text: string | undefined }[]): number {
  const scores = asked.flatMap(({ test, text = '' }) => {
    const weight = BM25.k * (1 - BM25.b + (BM25.b * countOf(' ', text)) / BM25.length);
    return phrasesOf(test).map((phrase) => {
      const count = countOf(phrase, text);
      return count / (count + weight);
    });
  });
  const sum = scores.reduce((left, right) => left + right, 0);
  return scores.length === 0 ? 0 : Math.round((sum / scores.length) * 10_000) / 10_000;
}

/** What is to be there, as it is in texts. */
function phrasesOf(test: WordsTest): readonly string[] {
  if ('phrase' in test) return [phraseIn(test.phrase)];
  if ('begins' in test) return [beginningIn(test.begins)];
  return ('some' in test ? test.some : test.all).flatMap(phrasesOf);
}

/** Two phrases may have the space between them in common. */
function countOf(phrase: string, text: string): number {
  const step = Math.max(1, phrase.length - 1);
  let count = 0;
  for (let at = text.indexOf(phrase); at >= 0; at = text.indexOf(phrase, at + step)) count++;
  return count;
}
