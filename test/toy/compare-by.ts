import { compareText } from '../../runtime/search/query/compare-text.js';
import type { SortKey } from '../../runtime/search/query/query.js';
import { compareValues, sortValue, type Sortable } from '../../runtime/search/query/sort.js';

/** Compares resources by these keys, and what is equal in all of them by `_id`: stores sort like this. */
export function compareBy(sort: readonly SortKey[]): (a: Sortable, b: Sortable) => number {
  return (a, b) => {
    for (const key of sort) {
      const [left, right] = [sortValue(key, a), sortValue(key, b)];
      if (left === undefined && right === undefined) continue;
      if (left === undefined) return 1;
      if (right === undefined) return -1;
      const order = compareValues(left, right);
      if (order !== 0) return key.isDescending ? -order : order;
    }
    return compareText(a.id, b.id);
  };
}
