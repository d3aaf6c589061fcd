import type { SortKey } from '../../../search/query/query.js';
import type { Value } from './compile/sql.js';
import { compareValues, type SortValue } from '../../../search/query/sort.js';

/** Which arm of a driver: its place, how many there are, and what it is whatever their number. */
export type ArmName = readonly [place: number, count: number, name: string];

/** Where in the ranges of a driver a row is. */
export interface ArmPlace {
  readonly arm: ArmName;
  /** Values of the columns by which the rows of each level are in order. */
  readonly at: readonly (readonly Value[])[];
}

/** A resource that was found. */
export interface Hit {
  readonly key: number;
  /** What it is sorted by; null: it has no value. */
  readonly values: readonly (SortValue | null)[];
  /** Where it is in the ranges that were gone through; absent: it was found otherwise. */
  readonly place?: { readonly arm: () => ArmName; readonly at: ArmPlace['at'] };
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

/** The same of one type: what is alike comes in the order of keys. */
export function compareHits(sort: readonly SortKey[]): (a: Hit, b: Hit) => number {
  const compare = compareSorted(sort);
  return (a, b) => compare(a, b) || a.key - b.key;
}
