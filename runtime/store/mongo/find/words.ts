import type { Document } from 'mongodb';

import type { WordsTest } from '../../../search/query/query.js';
import { beginningIn, phraseIn } from '../../../search/text/has-words.js';
import { entryAccess } from './access.js';
import { everyOf, type Compiled } from './compiled.js';
import { escapeRegex, prefixRange } from './text.js';
import { anyOf } from './unite.js';

/** What a test of the words of a parameter comes to: each word is a way to it. */
export function compileWords(type: string, p: string, test: WordsTest): Compiled {
  if ('phrase' in test) return compilePhrase(type, p, test.phrase);
  if ('begins' in test) return compileBeginning(type, p, test.begins);
  if ('some' in test) {
    const some = test.some.map((each) => compileWords(type, p, each));
    return some.length === 1 ? some[0]! : anyOf(some);
  }
  const all = test.all.map((each) => compileWords(type, p, each));
  const none = test.none.map((each) => compileWords(type, p, each).filter);
  const filters = [...all.map(({ filter }) => filter), ...(none.length === 0 ? [] : [{ $nor: none }])];
  const accesses = all.flatMap((each) =>
    each.accesses.map((access) => ({ ...access, part: access.part ?? each.filter, isExact: false })),
  );
  return { filter: everyOf(filters), accesses };
}

/** Several words have to follow each other in the text, too. */
function compilePhrase(type: string, p: string, words: readonly string[]): Compiled {
  const text = words.length > 1 && { text: { $regex: escapeRegex(phraseIn(words)) } };
  const all = [...new Set(words)].map((word) => ({
    word,
    filter: element(p, { w: { $eq: word }, ...text }),
  }));
  const isExact = words.length === 1;
  return {
    filter: all[0]!.filter,
    accesses: all.map(({ word, filter }, i) => ({
      ...entryAccess(type, 'words', p, { values: [word] }),
      ...(i > 0 && { part: filter }),
      isExact,
    })),
  };
}

function compileBeginning(type: string, p: string, words: readonly string[]): Compiled {
  const text = { $regex: escapeRegex(beginningIn(words)) };
  const last = words.at(-1)!;
  // Two bounds of an array may be met by two of its elements, a pattern is met by one.
  const begun = element(p, { w: { $regex: `^${escapeRegex(last)}` }, text });
  const byLast = entryAccess(type, 'words', p, { ranges: [prefixRange(last)] });
  if (words.length === 1) return { filter: begun, accesses: [byLast] };
  const [first = last] = words;
  const filter = element(p, { w: { $eq: first }, text });
  const byFirst = entryAccess(type, 'words', p, { values: [first] });
  return { filter, accesses: [byFirst, { ...byLast, part: begun }] };
}

/** One row has all of this. */
function element(p: string, fields: Document): Document {
  return { words: { $elemMatch: { p, ...fields } } };
}
