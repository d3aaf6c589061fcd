import type { ComponentRow, SearchRow } from '../../contract/search.js';
import { VALUE_PARSERS } from './parse-value.js';

/**
 * Parameters that the specification has for every type and that are refused by name until they exist: what to do
 * meanwhile. https://hl7.org/fhir/R5/search.html#table
 */
export const LATER_PARAMETERS: Readonly<Record<string, string>> = {
  _include: 'search the other type by the references found, with _id',
  _revinclude: 'search the other type by its reference parameter',
  _has: 'search the other type, then this one with _id',
  _filter: 'say it with several parameters, and values separated by commas',
  _text: 'string parameters take :contains',
  _content: 'string parameters take :contains',
  _list: 'read the List, then search with _id',
  _in: 'read the group or list, then search with _id',
  _query: 'say it with the parameters of the type',
  _type: 'search one type at a time: [base]/[type]?…',
  _contained: 'contained resources are found by nothing but the resource that they are in',
  _containedType: 'contained resources are found by nothing but the resource that they are in',
  _graph: 'search the other types one by one',
  _score: 'sort with _sort',
};

/** Whether searches by a parameter work: its values are read, and compared with something. */
export function isSearchable(row: SearchRow): boolean {
  if (Object.hasOwn(LATER_PARAMETERS, row.code)) return false;
  if (row.type !== 'composite') return isReadable(row);
  const { components = [] } = row;
  return row.paths.length > 0 && components.length > 0 && components.every(isReadable);
}

function isReadable({ type, paths }: ComponentRow | SearchRow): boolean {
  return VALUE_PARSERS[type] !== undefined && paths.some(({ types }) => types.length > 0);
}
