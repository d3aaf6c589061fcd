import { append } from '../fhir/lists.js';
import type { ComponentRow, PathRow, SearchRow } from '../contract/search.js';
import type { Tables } from '../contract/tables.js';
import { compileWays } from '../path/compile-ways.js';
import { createSchema, type Schema } from '../path/evaluate/schema.js';
import { indexRows } from '../path/expression/type-index.js';
import { OwnBases } from '../path/own-bases.js';
import { createReferenceWalk } from '../path/reference-walk.js';
import { inTurn, type Visit, type Way } from '../path/visit.js';
import { contextEntries } from './context-entries.js';
import { coveringOf } from './covering.js';
import { otherReferences } from './other-references.js';
import { unindexedEntries } from './unindexed.js';
import { evaluatedVisit, type EndOfType } from './extract-evaluated.js';
import { storedVisits } from './stored-bound.js';
import type { IndexEntry, SimpleEntry } from './entry.js';
import { createFindConverter, type FindConverter } from './extract-converters.js';
import { createTextExtractor } from './text/extract-text.js';
import type { Harvest, Target, ValueSearchType } from './values/converter.js';
import type { ExtractionThrottle } from './extraction-throttle.js';
import { parametersOf } from './parameters-of.js';
import { valuesOf } from './parameter-kinds.js';
import { createZone } from './values/zone.js';

/** Settings of an extractor. */
export interface ExtractorOptions {
  /** Zone of dates without an offset: `UTC` (default), `+02:00`, or an IANA name. */
  readonly zone?: string;
  /** By which references lead to resources here; absent: only relative ones do. */
  readonly own?: OwnBases;
  /** What stored parameters may take of the time of all; absent: as much as they need. */
  readonly pace?: ExtractionThrottle;
}

/** The tables that extraction reads. */
export type ExtractorTables = Pick<Tables, 'search' | 'types' | 'primitives' | 'resourceTypes'>;

/**
 * Entries that are not wanted: those of full text, for which all text of a resource is gone through; all but the words of some
 * parameters; or, of what is contained in another resource, into which its `#m1` point, those of parameters of the store.
 */
export type Unwanted =
  'words' | { readonly allButWordsOf: ReadonlySet<string> } | { readonly within: Readonly<Record<string, unknown>> };

/** Reads the index entries off a resource, without those that are not wanted. Never throws: what cannot be converted gives no entry. */
export type Extractor = (resource: Readonly<Record<string, unknown>>, without?: Unwanted) => IndexEntry[];

/**
 * Makes the function that reads a resource's index entries: those of its type's own search parameters and of all it
 * inherits. Closures of a type are made when its first resource comes. Of parameters of type `special` only some have entries.
 * Equal entries are not merged, and their order means nothing. https://hl7.org/fhir/R5/search.html#table
 * @throws RangeError for a zone that does not exist
 */
export function createExtractor(tables: ExtractorTables, options: ExtractorOptions = {}): Extractor {
  const values = createValueExtractor(tables, options);
  const texts = createTextExtractor(tables);
  // Not what the resource says: that may be a slice of its text, all of which would be kept with it.
  const types = new Map<unknown, string>(tables.resourceTypes.map((type) => [type, type]));
  const search = withoutStored(tables.search);
  let builtIn: Extractor | undefined;
  return (resource, without) => {
    const type = types.get(resource?.['resourceType']);
    if (type === undefined) return [];
    if (without === 'words') return values(resource);
    if (without === undefined) return [...values(resource), ...texts(type, resource)];
    if ('allButWordsOf' in without) return texts(type, resource, without.allButWordsOf);
    if (search === tables.search) return [...values(resource, without), ...texts(type, resource)];
    return (builtIn ??= createExtractor({ ...tables, search }, options))(resource, without);
  };
}

/** The tables without parameters of the store; the same ones where there are none. */
function withoutStored(search: ExtractorTables['search']): ExtractorTables['search'] {
  const isBuiltIn = ({ isStored }: SearchRow): boolean => isStored !== true;
  if (search.every(({ parameters }) => parameters.every(isBuiltIn))) return search;
  return search.map((table) => ({ ...table, parameters: table.parameters.filter(isBuiltIn) }));
}

/** Creates an extractor without words, which are not read by the paths of parameters. */
export function createValueExtractor(tables: ExtractorTables, options: ExtractorOptions = {}): Extractor {
  const resourceTypes = new Set(tables.resourceTypes);
  const { own = new OwnBases() } = options;
  const compiler: Compiler = {
    find: createFindConverter(tables),
    schema: createSchema(indexRows(tables.types, tables.primitives)),
    zone: createZone(options.zone ?? 'UTC'),
    isResourceType: (name) => resourceTypes.has(name),
    own,
    ...(options.pace !== undefined && { pace: options.pace }),
  };
  const searchTables = new Map(tables.search.map((table) => [table.type, table]));
  const walkReferences = createReferenceWalk(tables);
  const compiled = new Map<string, CompiledType>();
  return (resource, without) => {
    const type: unknown = resource?.['resourceType'];
    if (typeof type !== 'string') return [];
    let known = compiled.get(type);
    if (known === undefined) {
      // Not what the resource says: that may be a slice of its text, all of which would be kept with it.
      const name = tables.resourceTypes.find((each) => each === type);
      if (name === undefined) return [];
      const rows = [...parametersOf(name, searchTables).values()];
      // What a union has is in the entries of those that it is a union of.
      const builtIn = rows.filter(({ isStored, unionOf }) => isStored !== true && unionOf === undefined);
      known = { visit: compileType(compiler, rows), builtIn: new Set(builtIn.map(({ code }) => code)) };
      compiled.set(name, known);
    }
    const { visit, builtIn } = known;
    const out: IndexEntry[] = contextEntries(resource, own);
    const isWithin = typeof without === 'object' && 'within' in without;
    const harvest: Harvest = { root: isWithin ? without.within : resource, resource, out };
    visit(resource, harvest);
    // What is within another is found by the references of the whole.
    if (!isWithin)
      append(
        out,
        otherReferences(resource, out, walkReferences, (param) => builtIn.has(param), own),
      );
    return harvest.failed === undefined ? out : out.concat(unindexedEntries(harvest.failed));
  };
}

interface CompiledType {
  readonly visit: Visit<Harvest>;
  /** Codes of the parameters that no SearchParameter resource defines. */
  readonly builtIn: ReadonlySet<string>;
}

interface Compiler extends Pick<Target, 'zone' | 'isResourceType' | 'own'> {
  readonly find: FindConverter;
  readonly schema: Schema;
  readonly pace?: ExtractionThrottle;
  /** Of stored parameters what is converted is counted. */
  readonly isStored?: true;
}

function compileType(compiler: Compiler, rows: readonly SearchRow[]): Visit<Harvest> {
  // What a union has is in the entries of those that it is a union of.
  const builtIn = rows.filter(({ isStored, unionOf }) => isStored !== true && unionOf === undefined);
  // Each by itself: so the same are reported as failed whatever others there are beside those that are stored.
  const stored = rows.filter(({ isStored }) => isStored === true);
  return inTurn([
    compileAll(builtIn.flatMap((row) => waysOf(compiler, row))),
    storedVisits(
      stored.map((row) => ({ code: row.code, visit: compileAll(waysOf({ ...compiler, isStored: true }, row)) })),
      compiler.pace,
    ),
  ]);
}

/** A way of steps, or an expression that is evaluated. */
type AnyWay = Way<Harvest> | { readonly evaluated: Visit<Harvest> };

function compileAll(ways: readonly AnyWay[]): Visit<Harvest> {
  const compiled = ways.filter((way) => 'steps' in way);
  const evaluated = ways.flatMap((way) => ('evaluated' in way ? [way.evaluated] : []));
  return inTurn(compiled.length === 0 ? evaluated : [compileWays(compiled), ...evaluated]);
}

function toWay({ schema }: Compiler, path: PathRow, end: EndOfType, base?: string): AnyWay {
  return path.isEvaluated === true
    ? { evaluated: evaluatedVisit(path.text, end, schema, base) }
    : { steps: path.steps, end: (told) => end(told) };
}

function waysOf(compiler: Compiler, row: SearchRow): readonly AnyWay[] {
  const values = valuesOf(row);
  if (values !== 'composite') {
    return row.paths.map((path) => toWay(compiler, path, valueEnd(compiler, values, row.code, path)));
  }
  const end = composite(compiler, row);
  return row.paths.map((path) => toWay(compiler, path, () => end));
}

/** What is done with the values of one path: each is turned into entries by the converter of its type. */
function valueEnd(
  compiler: Compiler,
  search: ValueSearchType | undefined,
  param: string,
  { types, system }: PathRow,
  { isPart = false }: { readonly isPart?: boolean } = {},
): EndOfType {
  return (told) => {
    if (search === undefined) return () => {};
    const { find, zone, isResourceType, own, isStored = false } = compiler;
    const target: Target = {
      param,
      zone,
      isResourceType,
      own,
      ...(system !== undefined && { system }),
      ...(isPart && { isPart }),
    };
    const named = told === SYSTEM_STRING ? TEXTS[search] : told;
    const converters = named === undefined ? types.map((type) => find(search, type)) : [find(search, named)];
    const visits = [...new Set(converters)].flatMap((converter) => (converter ? [converter(target)] : []));
    return inTurn(isStored && visits.length > 0 ? [countValue, ...visits] : visits);
  };
}

const countValue: Visit<Harvest> = (value, { charge }) => charge?.(value);

/** The type of texts that an expression made. */
const SYSTEM_STRING = 'System.String';
/** What such a text is taken for. */
const TEXTS: Readonly<Partial<Record<ValueSearchType, string>>> = {
  token: 'code',
  uri: 'uri',
  string: 'string',
  date: 'dateTime',
};

/** One entry for a value that every component finds something in. https://hl7.org/fhir/R5/search.html#composite */
function composite(compiler: Compiler, row: SearchRow): Visit<Harvest> {
  const { code: param, components = [], paths: starts } = row;
  const isCovered = coveringOf(row) !== undefined;
  const base = starts[0]?.types[0];
  const visits = components.map(({ code, type, paths }: ComponentRow) =>
    compileAll(
      paths.map((path) =>
        toWay(
          compiler,
          path,
          valueEnd(compiler, isSimple(type) ? type : undefined, code, path, { isPart: true }),
          base,
        ),
      ),
    ),
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
    if (parts.length === 0 || parts.length < visits.length) return;
    // Each of one with each of another is an entry of its own in some stores.
    harvest.charge?.(
      undefined,
      parts.reduce((product, { length }) => product * length, 1),
    );
    out.push({ kind: 'composite', param, parts, ...(isCovered && { isCovered }) });
  };
}

function isSimple(type: SearchRow['type']): type is Exclude<SearchRow['type'], 'composite' | 'special'> {
  return type !== 'composite' && type !== 'special';
}
