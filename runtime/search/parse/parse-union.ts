import type { SearchRow } from '../../contract/search.js';
import type { Criterion } from '../query/query.js';

/**
 * Reads the value of a parameter by those that it is a union of, where it is one: `combo-code` is `code` or `component-code`.
 * What must not be there must be in none of them.
 *
 * @param rows all of the type that has it
 * @param read reads the value as that of a parameter, whose row it is given
 */
export function parseUnion(
  row: SearchRow,
  rows: ReadonlyMap<string, SearchRow>,
  read: (row: SearchRow) => Criterion,
): Criterion {
  if (row.unionOf === undefined) return read(row);
  const parts = row.unionOf.map((code) => parseUnion(rows.get(code)!, rows, read));
  return isNegative(parts[0]!) ? { all: parts } : { some: parts };
}

function isNegative(criterion: Criterion): boolean {
  return 'not' in criterion || ('codes' in criterion && criterion.isNot);
}
