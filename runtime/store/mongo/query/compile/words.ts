import type { Document } from 'mongodb';

import type { WordsTest } from '../../../../search/query/query.js';
import { beginningIn, phraseIn } from '../../../../search/text/has-words.js';
import { CONTENT, NARRATIVE } from '../../../../indexing/text/parameters.js';
import { entryAccess } from '../plan/access.js';
import { anyOf, everyOf, inexact, type Compiled } from './compiled.js';
import { escapeRegex, prefixRange } from './text.js';

/** Compiles a test of the words of some parameters together. Each word that has to be there is a way to the matches. */
export function compileWords(type: string, params: readonly string[], test: WordsTest): Compiled {
  if ('phrase' in test) return anyOf(params.map((p) => compilePhrase(type, p, test.phrase)));
  if ('begins' in test) return anyOf(params.map((p) => compileBeginning(type, p, test.begins)));
  if ('some' in test) return anyOf(test.some.map((each) => compileWords(type, params, each)));
  const all = test.all.map((each) => compileWords(type, params, each));
  const none = test.none.map((each) => compileWords(type, params, each).filter);
  const filters = [...all.map(({ filter }) => filter), ...(none.length === 0 ? [] : [{ $nor: none }])];
  const [only] = all;
  return all.length === 1 && none.length === 0 && only !== undefined
    ? only
    : { filter: everyOf(filters), ways: all.flatMap(({ ways }) => inexact(ways)) };
}

/** Several words have to follow each other in a text, too. */
function compilePhrase(type: string, p: string, words: readonly string[]): Compiled {
  const keys = keysOf(p);
  const isExact = words.length === 1 && p === keys;
  const texts = isExact ? [] : [hasText(p, phraseIn(words))];
  const all = [...new Set(words)].map((word) => ({ word, part: element(keys, { w: { $eq: word } }) }));
  return {
    filter: everyOf([all[0]!.part, ...texts]),
    // Not all that has the word has the phrase.
    ways: all.map(({ word }) => ({ ...entryAccess(type, 'words', keys, { values: [word] }), isExact })),
  };
}

function compileBeginning(type: string, p: string, words: readonly string[]): Compiled {
  const keys = keysOf(p);
  const last = words.at(-1)!;
  // Two bounds of an array may be met by two of its elements, a pattern is met by one.
  const pattern = `^${escapeRegex(last)}`;
  const begun = element(keys, { w: { $regex: pattern } });
  const byLast = entryAccess(type, 'words', keys, { ranges: [prefixRange(last)] }, pattern);
  const text = hasText(p, beginningIn(words));
  if (words.length === 1) return { filter: everyOf([begun, text]), ways: [byLast] };
  const [first = last] = words;
  const part = element(keys, { w: { $eq: first } });
  const byFirst = entryAccess(type, 'words', keys, { values: [first] });
  return { filter: everyOf([part, text]), ways: [byFirst, byLast] };
}

/** The parameter that has the words of another: those of the narrative are among those of the content. See `WordsRow`. */
function keysOf(p: string): string {
  return p === NARRATIVE ? CONTENT : p;
}

/** One row has all of this. */
function element(p: string | Document, fields: Document): Document {
  return { words: { $elemMatch: { p, ...fields } } };
}

/** Some text of a parameter has this; no way into the index, which would be taken for another one than the words are. */
function hasText(p: string, part: string): Document {
  const row = element(p === CONTENT ? { $in: [CONTENT, NARRATIVE] } : p, { text: { $regex: escapeRegex(part) } });
  return { $nor: [{ $nor: [row] }] };
}
