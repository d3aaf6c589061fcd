import type { SearchRow } from '../contract/search.js';
import type { JsonObject } from '../fhir/resource.js';
import { searchDefinitions } from '../search/query/definitions.js';
import { PREFIXES } from '../search/query/intervals.js';
import { isSearchable } from '../search/query/later-parameters.js';
import { modifiersOf } from '../search/query/parse-criterion.js';
import type { HierarchyContext } from '../search/query/parse-hierarchy.js';
import { DEFAULT_SEARCH } from './search-settings.js';
import type { Services } from './services.js';

/** Types whose values take prefixes. https://hl7.org/fhir/R5/search.html#prefix */
const PREFIXED: ReadonlySet<string> = new Set(['date', 'number', 'quantity']);

/** Search parameters of a type that work, as a CapabilityStatement has them, those that all types have included. */
export function describeSearch(type: string, { tables }: Pick<Services, 'tables'>): JsonObject {
  const definitions = searchDefinitions(tables);
  const rows = [...definitions.rowsOf(type).values()].filter(isSearchable);
  const hierarchy = { type, hierarchies: definitions.hierarchies() };
  if (rows.length === 0) return {};
  const sorted = rows.sort((a, b) => (a.code < b.code ? -1 : 1));
  return { searchParam: sorted.map((row) => describeParameter(row, hierarchy)) };
}

function describeParameter(row: SearchRow, hierarchy: HierarchyContext): JsonObject {
  const modifiers = modifiersOf(row, hierarchy).map((modifier) => `:${modifier}`);
  const prefixes = PREFIXED.has(row.type) ? ` Prefixes: ${PREFIXES.join(', ')}.` : '';
  return {
    name: row.code,
    definition: row.url,
    type: row.type,
    documentation: `Modifiers: ${modifiers.join(', ')}.${prefixes}`,
  };
}

/** What of the matches can be asked for. */
export function describeResults({ search, subset }: Pick<Services, 'search' | 'subset'>): string {
  const { count, maxCount } = { ...DEFAULT_SEARCH, ...search };
  const views = subset === undefined ? '_summary=count' : '_summary, _elements';
  return (
    `_sort by every parameter listed but composite ones, _count up to ${maxCount} (default ${count}), _maxresults, ` +
    `_total, ${views}. By GET and by POST to _search.`
  );
}
