import type { SearchRow } from '../../contract/search.js';
import { TEXT_MODIFIERS } from '../../indexing/parameter-kinds.js';
import type { Criterion } from '../query/query.js';
import { splitName } from './parse-plain.js';

/**
 * Reads the value of a parameter by those that it is a union of, where it is one: `combo-code` is `code` or `component-code`.
 * What must not be there must be in none of them. Words are asked of all together: one of them may be in `code`, another one
 * in `component-code`.
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
  const codes = unionOf(row, rows);
  if (codes === undefined) return read(row);
  if (TEXT_MODIFIERS.includes(splitName(name).modifier)) {
    const words = read(row);
    return 'words' in words ? { ...words, unionOf: codes } : words;
  }
  const parts = codes.map((code) => read(rows.get(code)!));
  if (parts.length === 1) return parts[0]!;
  return isNegative(parts[0]!) ? { all: parts } : { some: parts };
}

/**
 * Codes of the parameters that have the values of a union; undefined: the parameter is none.
 *
 * @param rows all of the type that has it
 */
export function unionOf(row: SearchRow, rows: ReadonlyMap<string, SearchRow>): readonly string[] | undefined {
  return row.unionOf?.flatMap((code) => unionOf(rows.get(code)!, rows) ?? [code]);
}

function isNegative(criterion: Criterion): boolean {
  return 'not' in criterion || ('codes' in criterion && criterion.isNot);
}
