import type { SearchRow } from '../../contract/search.js';
import type { Criterion } from '../query/query.js';

/**
 * Reads the value of a parameter by those that it is a union of, where it is one: `combo-code` is `code` or `component-code`.
 * What must not be there must be in none of them.
 *
 * @param read reads the value as that of a parameter, whose row it is given
 */
export function parseUnion(
  row: SearchRow,
  rows: ReadonlyMap<string, SearchRow>,
  read: (row: SearchRow) => Criterion,
): Criterion {
  const parts = row.unionOf?.flatMap((code) => rows.get(code) ?? []) ?? [];
  const [first, ...others] = parts.map((part) => parseUnion(part, rows, read));
  if (first === undefined || parts.length !== row.unionOf?.length) return read(row);
  return isNegative(first) ? { all: [first, ...others] } : { some: [first, ...others] };
}

function isNegative(criterion: Criterion): boolean {
  return 'not' in criterion || ('codes' in criterion && criterion.isNot);
}
