import type { Tables } from '../../contract/tables.js';
import type { Resource } from '../../fhir/resource.js';
import type { IndexEntry } from '../../indexing/entry.js';
import { createExtractor, createValueExtractor, type ExtractorOptions } from '../../indexing/extract.js';
import { withMoreRows, type IndexMaker } from '../../indexing/index-record.js';
import type { ParameterContext } from '../../indexing/parameters/parameter-context.js';
import { withParameters, type ParameterSet } from '../../indexing/parameters/parameter-set.js';
import type { StoredParameter } from '../../indexing/parameters/stored-parameter.js';
import type { Services } from '../services.js';
import { UNINDEXED } from '../../indexing/unindexed.js';

/**
 * The search parameters that hold together: those of the tables and those of the store. A request works with one set from its
 * start to its end.
 */
export interface DefinitionSet {
  readonly tables: Tables;
  readonly extract: Services['extract'];
  readonly maker: IndexMaker;
  readonly parameters: readonly StoredParameter[];
  readonly refused: ParameterSet['refused'];
  /**
   * The entries of a resource by this set.
   *
   * @param entries those that are known, by whatever set they were made; only what is missing of them is made
   */
  readonly refit: (resource: Resource, entries: readonly IndexEntry[]) => readonly IndexEntry[];
}

/** Entries that a set made, and which one. */
const madeBy = new WeakMap<readonly IndexEntry[], object>();

/**
 * Makes a set.
 *
 * @param maker by which entries of what is built in are made
 */
export function createDefinitionSet(
  tables: Tables,
  { parameters, refused }: ParameterSet,
  { definitions }: Pick<ParameterContext, 'definitions'>,
  options: Pick<ExtractorOptions, 'own' | 'pace'> & { readonly zone: string },
  maker: IndexMaker,
): DefinitionSet {
  const search = withParameters(tables.search, parameters);
  const all = parameters.length === 0 ? tables : { ...tables, search };
  const extractAll = createExtractor(all, options);
  const extractStored = createValueExtractor({ ...tables, search: onlyStored(search) }, options);
  const stored = new Set(parameters.map(({ code }) => code));
  const mark = {};
  const extract: DefinitionSet['extract'] = (resource, without) => {
    const entries = extractAll(resource, without);
    madeBy.set(entries, mark);
    return entries;
  };
  return {
    tables: all,
    extract,
    maker: withMoreRows(
      maker,
      parameters.flatMap(({ rows }) => [...rows]),
      options.zone,
    ),
    parameters,
    refused,
    refit(resource, entries) {
      const by = madeBy.get(entries);
      if (by === mark) return entries;
      if (by !== undefined) return extract(resource);
      // Of those that a thread made, which knows nothing of the store.
      const builtIn = definitions.rowsOf(resource.resourceType);
      const known = entries.filter(({ param }) => param !== UNINDEXED && (param.startsWith('.') || builtIn.has(param)));
      const more =
        parameters.length === 0
          ? []
          : [...extractStored(resource), ...extractAll(resource, { allButWordsOf: stored })].filter(
              ({ param }) => param === UNINDEXED || (!builtIn.has(param) && !param.startsWith('.')),
            );
      const fitted = more.length === 0 && known.length === entries.length ? entries : [...known, ...more];
      madeBy.set(fitted, mark);
      return fitted;
    },
  };
}

function onlyStored(search: Tables['search']): Tables['search'] {
  return search.map(({ type, base, parameters }) => ({
    type,
    ...(base !== undefined && { base }),
    parameters: parameters.filter(({ isStored }) => isStored === true),
  }));
}
