import type { SearchRow, SearchTable, SearchType } from '../../contract/search.js';
import type { Tables } from '../../contract/tables.js';
import { indexRows, type TypeIndex } from '../../path/expression/type-index.js';
import { createFindConverter, type FindConverter } from '../extract-converters.js';
import { searchDefinitions, type SearchDefinitions } from '../definitions.js';

/** The tables that stored parameters are read against. */
export type ParameterTables = Pick<Tables, 'search' | 'resourceTypes' | 'types' | 'primitives' | 'codes'>;

/** Built-in definitions that stored parameters are read against. */
export interface ParameterContext {
  readonly tables: ParameterTables;
  readonly types: TypeIndex;
  readonly find: FindConverter;
  readonly definitions: SearchDefinitions;
  /** The built-in parameter of a canonical. */
  readonly builtIn: (url: string) => SearchRow | undefined;
  /** Whether there may be parameters of a type. */
  readonly isBase: (type: string) => boolean;
  /** The types that resources can have which have the parameters of this one. */
  readonly concrete: (base: string) => readonly string[];
}

/** The type and code of a parameter that a component stands for. */
export interface NamedParameter {
  readonly code: string;
  readonly type: SearchType;
}

/** Looks the tables up when they are first asked for. */
export function createParameterContext(tables: ParameterTables): ParameterContext {
  const searched = new Map(tables.search.map((table): [string, SearchTable] => [table.type, table]));
  let urls: ReadonlyMap<string, SearchRow> | undefined;
  const concrete = new Map<string, readonly string[]>();
  const isBelow = (type: string, base: string): boolean => {
    for (let at: string | undefined = type; at !== undefined; at = searched.get(at)?.base) if (at === base) return true;
    return false;
  };
  return {
    tables,
    get types() {
      return indexRows(tables.types, tables.primitives);
    },
    find: createFindConverter(tables),
    definitions: searchDefinitions(tables),
    builtIn: (url) =>
      (urls ??= new Map(
        tables.search.flatMap(({ parameters }) => parameters.map((row): [string, SearchRow] => [row.url, row])),
      )).get(url),
    isBase: (type) => searched.has(type),
    concrete(base) {
      let found = concrete.get(base);
      if (found === undefined) {
        found = tables.resourceTypes.filter((type) => isBelow(type, base));
        concrete.set(base, found);
      }
      return found;
    },
  };
}
