import type { ComponentRow, PathRow, SearchRow } from '../contract/search.js';
import type { Tables } from '../contract/tables.js';
import { compileWays } from '../path/compile-ways.js';
import { inTurn, type Visit, type Way } from '../path/visit.js';
import { contextEntries } from './context-entries.js';
import type { IndexEntry, SimpleEntry } from './entry.js';
import { createFindConverter, type FindConverter } from './extract-converters.js';
import type { Harvest, Target, ValueSearchType } from './values/converter.js';
import { parametersOf } from './parameters-of.js';
import { valuesOf } from './places/place-rows.js';
import { createZone } from './values/zone.js';

/** Settings of an extractor. */
export interface ExtractorOptions {
  /** Zone of dates without an offset: `UTC` (default), `+02:00`, or an IANA name. */
  readonly zone?: string;
}

/** The tables that extraction reads. */
export type ExtractorTables = Pick<Tables, 'search' | 'types' | 'primitives' | 'resourceTypes'>;

/** Reads the index entries off a resource. Never throws: what cannot be converted gives no entry. */
export type Extractor = (resource: Readonly<Record<string, unknown>>) => IndexEntry[];

/**
 * Makes the function that reads a resource's index entries: those of its type's own search parameters and of all it
 * inherits. Closures of a type are made when its first resource comes. Of parameters of type `special` only some have entries.
 * Equal entries are not merged, and their order means nothing. https://hl7.org/fhir/R5/search.html#table
 * @throws RangeError for a zone that does not exist
 */
export function createExtractor(tables: ExtractorTables, options: ExtractorOptions = {}): Extractor {
  const resourceTypes = new Set(tables.resourceTypes);
  const compiler: Compiler = {
    find: createFindConverter(tables),
    zone: createZone(options.zone ?? 'UTC'),
    isResourceType: (name) => resourceTypes.has(name),
  };
  const searchTables = new Map(tables.search.map((table) => [table.type, table]));
  const compiled = new Map<string, Visit<Harvest>>();
  return (resource) => {
    const type: unknown = resource?.['resourceType'];
    if (typeof type !== 'string') return [];
    let visit = compiled.get(type);
    if (visit === undefined) {
      // Not what the resource says: that may be a slice of its text, all of which would be kept with it.
      const name = tables.resourceTypes.find((known) => known === type);
      if (name === undefined) return [];
      visit = compileType(compiler, [...parametersOf(name, searchTables).values()]);
      compiled.set(name, visit);
    }
    const out: IndexEntry[] = contextEntries(resource);
    visit(resource, { root: resource, out });
    return out;
  };
}

interface Compiler extends Pick<Target, 'zone' | 'isResourceType'> {
  readonly find: FindConverter;
}

function compileType(compiler: Compiler, rows: readonly SearchRow[]): Visit<Harvest> {
  return compileWays(rows.flatMap((row) => waysOf(compiler, row)));
}

function waysOf(compiler: Compiler, row: SearchRow): readonly Way<Harvest>[] {
  const values = valuesOf(row);
  if (values !== 'composite') return row.paths.map((path) => valueWay(compiler, values, row.code, path));
  const end = composite(compiler, row.code, row.components ?? []);
  return row.paths.map(({ steps }) => ({ steps, end: () => end }));
}

/** The way to the values of one path, each turned into entries by the converter of its type. */
function valueWay(compiler: Compiler, search: ValueSearchType | undefined, param: string, path: PathRow): Way<Harvest> {
  const { steps, types, system } = path;
  return {
    steps,
    end: (told) => {
      if (search === undefined) return () => {};
      const { find, zone, isResourceType } = compiler;
      const target: Target = { param, zone, isResourceType, ...(system !== undefined && { system }) };
      const converters = told === undefined ? types.map((type) => find(search, type)) : [find(search, told)];
      return inTurn([...new Set(converters)].flatMap((converter) => (converter ? [converter(target)] : [])));
    },
  };
}

/** One entry for a value that every component finds something in. https://hl7.org/fhir/R5/search.html#composite */
function composite(compiler: Compiler, param: string, components: readonly ComponentRow[]): Visit<Harvest> {
  const visits = components.map(({ code, type, paths }) =>
    compileWays(paths.map((path) => valueWay(compiler, isSimple(type) ? type : undefined, code, path))),
  );
  return (value, harvest) => {
    const { out } = harvest;
    const parts: SimpleEntry[][] = [];
    for (const visit of visits) {
      const part: SimpleEntry[] = [];
      // Components are never composite, so nothing but simple entries comes.
      harvest.out = part as IndexEntry[];
      visit(value, harvest);
      if (part.length === 0) break;
      parts.push(part);
    }
    harvest.out = out;
    if (parts.length > 0 && parts.length === visits.length) out.push({ kind: 'composite', param, parts });
  };
}

function isSimple(type: SearchRow['type']): type is Exclude<SearchRow['type'], 'composite' | 'special'> {
  return type !== 'composite' && type !== 'special';
}
