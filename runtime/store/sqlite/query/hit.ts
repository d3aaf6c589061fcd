import type { SortKey } from '../../../search/query/query.js';
import { compareValues } from '../../../search/query/sort.js';
import type { Last } from '../../plan/cursor.js';

/** A resource that was found. */
export type Hit = Last<number>;

/** Whether it is the key of a resource. */
export function isKey(value: unknown): value is number {
  return Number.isSafeInteger(value);
}

/** Compares what was found by what it is sorted by. */
export function compareSorted(sort: readonly SortKey[]): (a: Pick<Hit, 'values'>, b: Pick<Hit, 'values'>) => number {
  return (a, b) => {
    for (const [i, { isDescending }] of sort.entries()) {
      const [left, right] = [a.values[i] ?? null, b.values[i] ?? null];
      if (left === null && right === null) continue;
      if (left === null) return 1;
      if (right === null) return -1;
      const order = compareValues(left, right);
      if (order !== 0) return isDescending ? -order : order;
    }
    return 0;
  };
}

/** Compares hits of one type like `compareSorted`; those that are equal come in the order of keys. */
export function compareHits(sort: readonly SortKey[]): (a: Hit, b: Hit) => number {
  const compare = compareSorted(sort);
  return (a, b) => compare(a, b) || a.key - b.key;
}
