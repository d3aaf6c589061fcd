import type { SearchRow, SearchTable } from '../contract/search.js';
import type { Tables } from '../contract/tables.js';
import { parametersOf } from './parameters-of.js';
import { memoizeWeak } from '../fhir/memory/memoize.js';

/** The tables that searches are read by. */
export type SearchTables = Pick<Tables, 'search' | 'resourceTypes'>;

/** Definitions of search parameters, by type. */
export interface SearchDefinitions {
  readonly isResourceType: (name: string) => boolean;
  /** In code-point order. */
  readonly resourceTypes: readonly string[];
  /**
   * The parameters of a type with those it inherits, by code, and by each other name (alias) that stands for one: then the
   * key is the alias and `code` of the row the parameter's own, which conditions, sort keys and includes have to name.
   */
  rowsOf(type: string): ReadonlyMap<string, SearchRow>;
  /** By type, those of its parameters that refer within the type and lead up its hierarchy; types without any are left out. */
  hierarchies(): ReadonlyMap<string, readonly string[]>;
  /** What the index record calls a parameter of a type: `Patient.name`, `Resource._tag`; undefined: there is none. */
  recordName(type: string, code: string): string | undefined;
}

/** Looks into the tables; what is found for a type is kept. */
export const searchDefinitions = memoizeWeak(define);

function define({ search, resourceTypes }: SearchTables): SearchDefinitions {
  const types = new Set(resourceTypes);
  const tables = new Map(search.map((table) => [table.type, table]));
  const rows = new Map<string, ReadonlyMap<string, SearchRow>>();
  let hierarchies: ReadonlyMap<string, readonly string[]> | undefined;
  return {
    isResourceType: (name) => types.has(name),
    resourceTypes,
    rowsOf(type) {
      let found = rows.get(type);
      // Only names of the tables are kept, never what a client makes up.
      if (found === undefined) {
        found = withAliases(type, tables);
        if (types.has(type)) rows.set(type, found);
      }
      return found;
    },
    hierarchies: () => (hierarchies ??= findHierarchies(search)),
    recordName(type, code) {
      for (let table = tables.get(type); table; table = table.base === undefined ? undefined : tables.get(table.base)) {
        if (table.parameters.some((row) => row.code === code)) return `${table.type}.${code}`;
      }
      return undefined;
    },
  };
}

/** The parameters of a type, and its other names and those of its bases for them; indexing needs no other names. */
function withAliases(type: string, tables: ReadonlyMap<string, SearchTable>): ReadonlyMap<string, SearchRow> {
  const rows = new Map(parametersOf(type, tables));
  for (let table = tables.get(type); table; table = table.base === undefined ? undefined : tables.get(table.base)) {
    for (const { name, code } of table.aliases ?? []) {
      const row = rows.get(code);
      if (row !== undefined && !rows.has(name)) rows.set(name, row);
    }
  }
  return rows;
}

/** Canonicals name no resource by type and id, so that what they lead up to is not found. */
function findHierarchies(search: SearchTables['search']): ReadonlyMap<string, readonly string[]> {
  const leadsUp = (type: string, { hierarchy, targets, paths }: SearchRow): boolean =>
    hierarchy === true && targets?.includes(type) === true && paths.every(({ types }) => types.includes('Reference'));
  const found = search.map(({ type, parameters }): [string, string[]] => [
    type,
    parameters.filter((row) => leadsUp(type, row)).map(({ code }) => code),
  ]);
  return new Map(found.filter(([, codes]) => codes.length > 0));
}
