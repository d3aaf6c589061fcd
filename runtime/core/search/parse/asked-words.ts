import type { Criterion, WordsTest } from '../../../search/query/query.js';

/** Words that a search asks for. */
export interface AskedWords {
  readonly param: string;
  readonly words: WordsTest;
}

/** The words that criteria require of the matches themselves; words behind `not` or a chain are left out. */
export function wordsAskedFor(criteria: readonly Criterion[]): readonly AskedWords[] {
  return criteria.flatMap((criterion): readonly AskedWords[] => {
    if ('words' in criterion) return [criterion];
    if ('all' in criterion) return wordsAskedFor(criterion.all);
    return 'some' in criterion ? wordsAskedFor(criterion.some) : [];
  });
}
