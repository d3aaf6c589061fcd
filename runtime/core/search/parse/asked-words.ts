import type { Criterion, WordsLeaf } from '../../../search/query/query.js';

/** The words that criteria require of the matches themselves; words behind `not` or a chain are left out. */
export function wordsAskedFor(criteria: readonly Criterion[]): readonly WordsLeaf[] {
  return criteria.flatMap((criterion): readonly WordsLeaf[] => {
    if ('words' in criterion) return [criterion];
    if ('all' in criterion) return wordsAskedFor(criterion.all);
    return 'some' in criterion ? wordsAskedFor(criterion.some) : [];
  });
}
