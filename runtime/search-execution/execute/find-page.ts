import { narrowMultiType } from '../../auth/access/narrow-search.js';
import { scopeMissing } from '../../auth/access/refuse.js';
import { OPEN_ACCESS } from '../../auth/scopes/principal.js';
import { FhirError } from '../../fhir/errors.js';
import { isLink, isUnresolved } from '../../search/query/criterion.js';
import { type CodeSet, type Condition, isEverything, NOTHING, type Target } from '../../search/query/query.js';
import type { FindMultiTypeQuery, FindPage, FindQuery, PageQuery, Store } from '../../store/store.js';
import { checkConstraintIndexes } from '../../core/access/constraint-index-status.js';
import type { Call } from '../../core/call.js';
import type { Services } from '../../core/services.js';
import { withinConstraints, type SearchConstraints } from '../authorize/constrain-search.js';
import { constrainContained, containerTypes, intoContainers } from '../contained/contained-search.js';
import type { SearchRequest } from '../parse/search-request.js';
import { resolveCriteria, type HierarchySource } from './resolve-criteria.js';
import { withinBudget } from './search-budget.js';

type Asked = Pick<SearchRequest, 'criteria' | 'contained'>;

/**
 * One page of the resources that fulfill all criteria, with its includes and its total. Hierarchies and membership in the criteria
 * are resolved first, within the same time limit.
 *
 * @param parts what the scope of the search requires of each type
 * @param constraints of the token; absent: it gives access to everything
 * @throws FhirError `too-costly` with hints how to search for less, `index-not-current` where constraints go by stale parameters
 */
export async function findPage(
  parts: readonly Target[],
  request: Asked,
  query: PageQuery,
  { signal }: Pick<Call, 'signal'>,
  services: Pick<
    Services,
    'store' | 'extract' | 'limits' | 'tables' | 'zone' | 'own' | 'indexStatus' | 'findCodes' | 'largeTexts'
  >,
  constraints?: SearchConstraints,
): Promise<FindPage> {
  const { criteria } = request;
  const { store, limits } = services;
  const run = async (within: AbortSignal | undefined): Promise<FindPage> => {
    const targets = await readTargets(parts, request, within, services, constraints);
    try {
      const page = await find(targets, query, within, store);
      return constraints === undefined ? page : inOwnOrder(page, query);
    } catch (error) {
      throw error instanceof FhirError && error.code === 'too-costly'
        ? tooCostly(error, query, criteria, parts)
        : error;
    }
  };
  return criteria.some(isUnresolved) ? withinBudget(limits.queryTime, signal, run) : run(signal);
}

/**
 * A page that is all of the result, in the order of ids where none was asked for. The store's order is that of the index with the fewest
 * rows, which depends on how many resources the token does not show fulfil a criterion.
 */
function inOwnOrder(page: FindPage, { sort, after }: PageQuery): FindPage {
  if (sort.length > 0 || after !== undefined || page.next !== undefined) return page;
  const versions = page.versions.toSorted((a, b) => compareTexts(a.type, b.type) || compareTexts(a.id, b.id));
  return { ...page, versions };
}

function compareTexts(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/**
 * The condition of each type that a search looks for, constraints of the token included. Hierarchies and membership are resolved,
 * which asks the store.
 *
 * @throws FhirError as `findPage`
 */
export async function readTargets(
  parts: readonly Target[],
  { criteria, contained }: Asked,
  signal: AbortSignal | undefined,
  services: Pick<
    Services,
    'store' | 'extract' | 'tables' | 'zone' | 'own' | 'indexStatus' | 'findCodes' | 'largeTexts'
  >,
  constraints?: SearchConstraints,
): Promise<readonly Target[]> {
  const { store, extract, tables, zone, own } = services;
  const ask = (each: FindQuery) => store.find(each, signal);
  const access = constraints?.access ?? OPEN_ACCESS;
  const codesOf = (set: CodeSet) => services.findCodes(set, { access, signal }, services);
  const source = { codesOf, find: ask, findReadable: ask, extract, tables, signal, zone, own };
  return constraints === undefined
    ? lookInto(contained, narrow(parts, await resolveCriteria(criteria, source)), tables)
    : constrainedTargets(parts, contained, constraints, source, services);
}

/** The query of each type for a token that gives access to everything. */
export function lookInto(
  contained: SearchRequest['contained'],
  parts: readonly Target[],
  tables: Services['tables'],
): readonly Target[] {
  if (contained === undefined) return parts;
  const containers = containerTypes(tables).map((type) => ({ type, reach: 'everything' }) as const);
  return parts.flatMap((part) => intoContainers(contained, part, containers));
}

/** The query of each type with the constraints of the token as conjuncts. */
async function constrainedTargets(
  parts: readonly Target[],
  contained: SearchRequest['contained'],
  { access, own, judged, mayEnter, containers }: SearchConstraints,
  source: HierarchySource,
  services: Pick<Services, 'tables' | 'indexStatus'>,
): Promise<readonly Target[]> {
  const { tables } = services;
  const seen = {
    ...source,
    find: withinConstraints(access, source.find),
    findReadable: withinConstraints(access, source.find, 'r'),
  };
  const found = narrowMultiType(narrow(parts, await resolveCriteria(judged, seen)), access);
  if (found.is === 'refused') throw scopeMissing(found.needed, access);
  await checkConstraintIndexes(access.constraints, services, contained && parts[0]?.type);
  const more = mayEnter ? await resolveCriteria(own, source) : NOTHING;
  if (contained === undefined) return narrow(found.parts, more);
  // Of contained resources the criteria and the constraint are asked apart: a constraint may not be decidable there.
  const asked = narrow(
    found.parts.map(({ type, asked: where }) => ({ type, where })),
    more,
  );
  return asked.flatMap((part) =>
    intoContainers(contained, part, containers, constrainContained(access.on(part.type, 's'), part.type, tables)),
  );
}

/** Each part with a further condition. */
export function narrow(parts: readonly Target[], where: Condition): readonly Target[] {
  return parts.map((part) => ({ type: part.type, where: both(where, part.where) }));
}

function both(one: Condition, other: Condition): Condition {
  if (isEverything(other)) return one;
  if (isEverything(one)) return other;
  return { all: [...('all' in one ? one.all : [one]), other] };
}

/** All members, so that one that is new cannot be left out where they are written out: to spread a query takes several times as long. */
type Whole<T> = { readonly [K in keyof T]-?: T[K] | undefined };

function find(
  parts: readonly Target[],
  { sort, after, count, total, include }: PageQuery,
  signal: AbortSignal | undefined,
  store: Pick<Store, 'find' | 'findMultiType'>,
): Promise<FindPage> {
  const [only] = parts;
  if (parts.length !== 1 || only === undefined) {
    const query = { parts, sort, after, count, total, include } satisfies Whole<FindMultiTypeQuery>;
    return store.findMultiType(query, signal);
  }
  const { type, where } = only;
  const query = { type, where, sort, after, count, total, include, moment: undefined } satisfies Whole<FindQuery>;
  return store.find(query, signal);
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
