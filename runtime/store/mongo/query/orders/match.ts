import { compareText } from '../../../../search/query/compare-text.js';
import type { Order, OrderValue } from '../compile/order.js';

/** One that was found. */
export interface Match {
  readonly key: string;
  /** What it is sorted by. */
  readonly values: readonly (OrderValue | null)[];
}

/** Compares matches as the server sorts them: what has no value comes last, what is equal in all keys by its id. */
export function compareMatches({ keys, idSign }: Order): (a: Match, b: Match) => number {
  return (a, b) => {
    for (const [i, { sign }] of keys.entries()) {
      const [left, right] = [a.values[i] ?? null, b.values[i] ?? null];
      if (left === null && right === null) continue;
      if (left === null) return 1;
      if (right === null) return -1;
      const compared = compareValues(left, right);
      if (compared !== 0) return sign * compared;
    }
    return idSign * compareText(a.key, b.key);
  };
}

/** Values of one key are all of one kind. */
function compareValues(a: OrderValue, b: OrderValue): number {
  if (typeof a === 'object' && typeof b === 'object') return compareText(a[0], b[0]) || compareText(a[1], b[1]);
  if (typeof a === 'string' && typeof b === 'string') return compareText(a, b);
  return a < b ? -1 : a > b ? 1 : 0;
}
