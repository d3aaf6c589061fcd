import type { SearchRow } from '../../contract/search.js';
import { FhirError } from '../../fhir/errors.js';
import { nearest } from '../../fhir/nearest.js';
import { isLinkName } from './link-name.js';
import type { SortKey } from '../query/query.js';
import { isWords, isSearchable } from '../../indexing/parameter-kinds.js';
import { unionOf } from './parse-union.js';
import { quote } from '../../fhir/quote.js';

/**
 * Reads one key of `_sort`: a parameter, or another name of it, `-` before it for descending. https://hl7.org/fhir/R5/search.html#_sort
 *
 * @throws FhirError `parameter-unknown` for what nothing can be sorted by, and why
 */
export function parseSortKey(text: string, rows: ReadonlyMap<string, SearchRow>): SortKey {
  const isDescending = text.startsWith('-');
  const param = isDescending ? text.slice(1) : text;
  const row = rows.get(param);
  if (row === undefined) throw new FhirError('parameter-unknown', whyUnknown(param, rows));
  const by = kindOf(row);
  if (by === undefined || !isSearchable(row)) throw cannot(param, `it is of type ${row.type}`, rows);
  const codes = unionOf(row, rows);
  return { param: row.code, by, isDescending, ...(codes && { unionOf: codes }) };
}

function kindOf(row: SearchRow): SortKey['by'] | undefined {
  const { code, type } = row;
  if (isWords(row)) return undefined;
  if (code === '_id') return 'id';
  if (code === '_lastUpdated') return 'updated';
  return type === 'composite' || type === 'special' ? undefined : type;
}

/** A page goes on after a value of its last resource, which is in an index of that resource alone. */
const BEYOND =
  'only what the searched type itself says gives an order, for other resources may change within a page walk; search the ' +
  'other type with that _sort, and _include or _revinclude what belongs to it';

/** Pages go on from a place in an index. */
const SCORE = 'it is returned with the matches of a page with _score=true, and no index goes by it';

function whyUnknown(param: string, rows: ReadonlyMap<string, SearchRow>): string {
  const [code = ''] = param.split(/[:.]/, 1);
  if (isLinkName(param)) return cannot(param, BEYOND, rows).message;
  if (param.includes(':')) return cannot(param, `modifiers have no meaning there; try ${quote(code)}`, rows).message;
  return cannot(param, param === '_score' ? SCORE : `there is no such parameter${meant(param, rows)}`, rows).message;
}

function meant(param: string, rows: ReadonlyMap<string, SearchRow>): string {
  const near = param.length > 64 ? undefined : nearest(param, sortable(rows));
  return near === undefined ? '' : ` (did you mean ${quote(near)}?)`;
}

function cannot(param: string, why: string, rows: ReadonlyMap<string, SearchRow>): FhirError {
  const text = `_sort cannot go by ${quote(param)}: ${why}; it can by ${sortable(rows).join(', ')}`;
  return new FhirError('parameter-unknown', text);
}

function sortable(rows: ReadonlyMap<string, SearchRow>): readonly string[] {
  const valid = [...rows].filter(([, row]) => kindOf(row) !== undefined && isSearchable(row));
  return valid.map(([name]) => name).sort();
}
