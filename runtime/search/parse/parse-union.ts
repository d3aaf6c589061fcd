import type { SearchRow } from '../../contract/search.js';
import { TEXT_MODIFIERS } from '../parameter-kinds.js';
import type { Criterion } from '../query/query.js';
import { splitName } from './parse-plain.js';

/**
 * Reads the value of a parameter by those that it is a union of, where it is one: `combo-code` is `code` or `component-code`.
 * What must not be there must be in none of them. A union has words of its own: one of them may be in `code`, another one in
 * `component-code`.
 *
 * @param rows all of the type that has it
 * @param read reads the value as that of a parameter, whose row it is given
 * @param name what it is asked by, `code[:modifier]`; absent: by no modifier
 */
export function parseUnion(
  row: SearchRow,
  rows: ReadonlyMap<string, SearchRow>,
  read: (row: SearchRow) => Criterion,
  name = '',
): Criterion {
  if (row.unionOf === undefined || TEXT_MODIFIERS.includes(splitName(name).modifier)) return read(row);
  const parts = row.unionOf.map((code) => parseUnion(rows.get(code)!, rows, read));
  return isNegative(parts[0]!) ? { all: parts } : { some: parts };
}

function isNegative(criterion: Criterion): boolean {
  return 'not' in criterion || ('codes' in criterion && criterion.isNot);
}
