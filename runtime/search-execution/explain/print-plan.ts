import type { Explanation } from '../../store/store.js';

/** `21 rows`, `more than 1,000 rows`, `at most 500 rows`, `unknown`. */
export function printEstimate(estimated: Explanation['estimated']): string {
  if (estimated === undefined) return 'unknown';
  const { rows, bound } = estimated;
  const word = { about: '', most: 'at most ', more: 'more than ' }[bound];
  return `${word}${rows.toLocaleString('en')} ${rows === 1 ? 'row' : 'rows'}`;
}

/** `walked in its order`, `collected`, `collected and sorted`. */
export function printWay({ way }: Pick<Explanation, 'way'>, isSorted: boolean): string {
  if (way === 'walked') return 'walked in its order';
  return isSorted ? 'collected and sorted' : 'collected';
}
