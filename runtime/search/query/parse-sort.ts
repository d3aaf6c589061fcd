import type { SearchRow } from '../../contract/search.js';
import { FhirError } from '../../fhir/errors.js';
import { isSearchable } from './later-parameters.js';
import type { SortKey } from './query.js';

/**
 * Reads one key of `_sort`: a parameter, `-` before it for descending. https://hl7.org/fhir/R5/search.html#_sort
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
  return { param, by, isDescending };
}

function kindOf({ code, type }: SearchRow): SortKey['by'] | undefined {
  if (code === '_id') return 'id';
  if (code === '_lastUpdated') return 'updated';
  return type === 'composite' || type === 'special' ? undefined : type;
}

function whyUnknown(param: string, rows: ReadonlyMap<string, SearchRow>): string {
  const [code = ''] = param.split(/[:.]/, 1);
  if (param.includes('.')) return cannot(param, 'sorting by parameters of other types is not supported', rows).message;
  if (param.includes(':')) return cannot(param, `modifiers have no meaning there; try ${quote(code)}`, rows).message;
  return cannot(param, param === '_score' ? 'there is no score yet' : 'there is no such parameter', rows).message;
}

function cannot(param: string, why: string, rows: ReadonlyMap<string, SearchRow>): FhirError {
  const valid = [...rows.values()].filter((row) => kindOf(row) !== undefined && isSearchable(row));
  const list = valid.map(({ code }) => code).sort();
  const text = `_sort cannot go by ${quote(param)}: ${why}; it can by ${list.join(', ')}`;
  return new FhirError('parameter-unknown', text);
}

function quote(text: string): string {
  return JSON.stringify(text.length > 64 ? `${text.slice(0, 64)}…` : text);
}
