import { FhirError } from '../../../fhir/errors.js';
import { isLink, isUnresolved } from '../../../search/query/criterion.js';
import type { Target } from '../../../search/query/query.js';
import type { FindPage, FindQuery, PageQuery, Store } from '../../../store/store.js';
import type { Call } from '../../call.js';
import { containerTypes, intoContainers } from '../contained/contained-search.js';
import { resolveCriteria } from './resolve-criteria.js';
import { withinBudget } from './search-budget.js';
import type { SearchConstraints } from '../authorize/constrain-search.js';
import { narrow } from '../parse/search-parts.js';
import type { SearchRequest } from '../parse/search-request.js';
import type { Services } from '../../services.js';
import { baseKey } from '../../../path/own-base.js';

/**
 * A page of what fulfils all criteria; hierarchies that they name are followed first, within the same time.
 *
 * @param parts what is searched
 * @param bounds of what may be seen; absent: there are none
 * @throws FhirError `too-costly` with what could be done about it
 */
export async function findPage(
  parts: readonly Target[],
  { criteria, contained }: Pick<SearchRequest, 'criteria' | 'contained'>,
  query: PageQuery,
  { signal, base }: Pick<Call, 'signal' | 'base'>,
  { store, extract, limits, tables, zone }: Pick<Services, 'store' | 'extract' | 'limits' | 'tables' | 'zone'>,
  bounds?: SearchConstraints,
): Promise<FindPage> {
  const run = async (within: AbortSignal | undefined): Promise<FindPage> => {
    const ask = (each: FindQuery) => store.find(each, within);
    const source = { find: ask, findReadable: ask, extract, tables, signal: within, base, zone };
    const targets =
      bounds === undefined
        ? lookInto(contained, narrow(parts, await resolveCriteria(criteria, source)), tables)
        : await bounds.targets(parts, source);
    try {
      const asked = { ...query, ...(base !== '' && { base: baseKey(base) }) };
      return await find(targets, asked, within, store);
    } catch (error) {
      throw error instanceof FhirError && error.code === 'too-costly'
        ? tooCostly(error, query, criteria, parts)
        : error;
    }
  };
  return criteria.some(isUnresolved) ? withinBudget(limits.queryTime, signal, run) : run(signal);
}

/** What is asked of each type where nobody is kept from anything. */
export function lookInto(
  contained: SearchRequest['contained'],
  parts: readonly Target[],
  tables: Services['tables'],
): readonly Target[] {
  if (contained === undefined) return parts;
  const containers = containerTypes(tables).map((type) => ({ type, reach: 'everything' }) as const);
  return parts.flatMap((part) => intoContainers(contained, part, containers));
}

function find(
  parts: readonly Target[],
  query: PageQuery,
  signal: AbortSignal | undefined,
  store: Pick<Store, 'find' | 'findMultiType'>,
): Promise<FindPage> {
  const [only] = parts;
  return parts.length === 1 && only !== undefined
    ? store.find({ ...only, ...query }, signal)
    : store.findMultiType({ parts, ...query }, signal);
}

function tooCostly(
  { headers }: FhirError,
  { total, count, sort, include }: PageQuery,
  criteria: SearchRequest['criteria'],
  parts: readonly Target[],
): FhirError {
  const hints = [
    'add a criterion that few resources fulfil',
    ...(criteria.some(isLink) ? ['search in steps instead of by chains and _has'] : []),
    ...(parts.length > 1 ? ['name fewer types in _type'] : []),
    ...(include === undefined ? [] : ['leave out _include and _revinclude, or ask for fewer matches with _count']),
    ...(total === 'accurate' && count > 0 ? ['leave out _total=accurate'] : []),
    ...(sort.length > 0 ? ['leave out _sort'] : []),
  ];
  return new FhirError('too-costly', `The search takes too long; ${hints.join(', or ')}`, { headers });
}
