import type { SearchRow } from '../../contract/search.js';
import type { Tables } from '../../contract/tables.js';
import { parametersOf } from '../parameters-of.js';

/** The tables that searches are read by. */
export type SearchTables = Pick<Tables, 'search' | 'resourceTypes'>;

/** What is known of search parameters, by type. */
export interface SearchDefinitions {
  readonly isResourceType: (name: string) => boolean;
  /** The parameters of a type with those it inherits, by code. */
  rowsOf(type: string): ReadonlyMap<string, SearchRow>;
  /** What the index record calls a parameter of a type: `Patient.name`, `Resource._tag`; undefined: there is none. */
  recordName(type: string, code: string): string | undefined;
}

const known = new WeakMap<SearchTables, SearchDefinitions>();

/** Looks into the tables; what is found for a type is kept. */
export function searchDefinitions(tables: SearchTables): SearchDefinitions {
  let definitions = known.get(tables);
  if (definitions === undefined) known.set(tables, (definitions = define(tables)));
  return definitions;
}

function define({ search, resourceTypes }: SearchTables): SearchDefinitions {
  const types = new Set(resourceTypes);
  const tables = new Map(search.map((table) => [table.type, table]));
  const rows = new Map<string, ReadonlyMap<string, SearchRow>>();
  return {
    isResourceType: (name) => types.has(name),
    rowsOf(type) {
      let found = rows.get(type);
      // Only names of the tables are kept, never what a client makes up.
      if (found === undefined) {
        found = parametersOf(type, tables);
        if (types.has(type)) rows.set(type, found);
      }
      return found;
    },
    recordName(type, code) {
      for (let table = tables.get(type); table; table = table.base === undefined ? undefined : tables.get(table.base)) {
        if (table.parameters.some((row) => row.code === code)) return `${table.type}.${code}`;
      }
      return undefined;
    },
  };
}
