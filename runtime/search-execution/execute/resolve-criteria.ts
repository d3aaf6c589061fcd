import { append } from '../../fhir/lists.js';
import { FhirError } from '../../fhir/errors.js';
import type { Resource } from '../../fhir/resource.js';
import { readJson } from '../../format/read-json.js';
import { anyCase } from '../../search/parse/parse-value.js';
import { MAX_LISTINGS } from '../../search/parse/members.js';
import {
  NOTHING,
  type CodesCriterion,
  type CodeSet,
  type Condition,
  type Criterion,
  type FilterCriterion,
  type Hierarchy,
  type Target,
  type TokenTest,
  type ValueTest,
} from '../../search/query/query.js';
import type { Store, StoredVersion } from '../../store/store.js';
import { MOST_SEARCHED_CODES, type FoundCode } from '../../core/search-services/code-finder.js';
import { findAll } from '../../core/search-services/find-all.js';
import { hasChain, hasCodes, intoContained } from '../contained/contained-chains.js';
import { resolveMembership, type MembershipBudget, type MembershipSource } from './resolve-members.js';
import type { Services } from '../../core/services.js';

/** The services that resolving criteria needs. */
export interface HierarchySource extends Pick<Services, 'extract' | 'tables'>, MembershipSource {
  readonly find: Store['find'];
  /** Looks up sets of codes, as far as the token may see them. */
  readonly codesOf: (set: CodeSet) => Promise<readonly FoundCode[]>;
}

/** Limits of the hierarchies of one search: resources found beside those that it names, and levels. */
export const MAX_HIERARCHY = { resources: 1000, levels: 50 };

/** Resources that one query returns. */
const PAGE = 500;

/** Depth of JSON that is accepted from the store: older versions may be deeper than clients may write now. */
const DEPTH = 10_000;

/**
 * One condition for all criteria of a search, which a store can compile. References into hierarchies, also at the end of links,
 * become references to each resource there; membership is resolved by `resolveMembership`; chains lead into contained resources too.
 *
 * @throws FhirError `too-costly` where hierarchies or memberships are too large, or the time is over
 */
export async function resolveCriteria(criteria: readonly Criterion[], source: HierarchySource): Promise<Condition> {
  const budget = { room: MAX_HIERARCHY.resources, listings: MAX_LISTINGS, codes: MOST_SEARCHED_CODES };
  const all: Condition[] = [];
  for (const criterion of criteria) all.push(await resolve(criterion, source, budget));
  const [only] = all;
  return all.length === 1 && only !== undefined ? only : { all };
}

/** The number of resources that the hierarchies of a search may still add. */
interface Budget extends MembershipBudget {
  room: number;
  /** The number of codes that it may still look for. */
  codes: number;
}

/** Resolves the ends of links first. Types that share a criterion share the result. */
async function resolve(
  criterion: Criterion,
  source: HierarchySource,
  budget: Budget,
  known = new Map<Criterion, Condition>(),
): Promise<Condition> {
  const before = known.get(criterion);
  if (before !== undefined) return before;
  const made = await make(criterion, source, budget, (each) => resolve(each, source, budget, known));
  known.set(criterion, made);
  return made;
}

async function make(
  criterion: Criterion,
  source: HierarchySource,
  budget: Budget,
  inner: (criterion: Criterion) => Promise<Condition>,
): Promise<Condition> {
  if ('members' in criterion) return resolveMembership(criterion, source, budget);
  if ('codes' in criterion) return resolveCodes(criterion, source, budget);
  if ('hierarchies' in criterion) {
    const any: ValueTest[] = [];
    for (const hierarchy of criterion.hierarchies) {
      const ids = await follow(hierarchy, source, budget);
      append(any, testsOf(hierarchy.type, ids));
    }
    return { param: criterion.param, any };
  }
  if ('chain' in criterion) {
    const chain: Target[] = [];
    for (const { type, where } of criterion.chain) chain.push({ type, where: await inner(where) });
    return intoContained(criterion, chain, source.tables);
  }
  if ('has' in criterion) return { has: { ...criterion.has, where: await inner(criterion.has.where) } };
  return hasChain(criterion) || hasCodes(criterion) ? inFilter(criterion, inner) : (criterion as Condition);
}

/** Codes become tests of the parameter. */
async function resolveCodes(
  { param, codes, isNot }: CodesCriterion,
  { codesOf }: HierarchySource,
  budget: Budget,
): Promise<Condition> {
  const tests = new Map<string, ValueTest>();
  for (const set of codes) {
    for (const { system, code, ignoresCase } of await codesOf(set)) {
      const test: TokenTest = { is: 'token', system, code };
      tests.set(`${system}|${code}`, ignoresCase === true ? anyCase('token-any-case', test) : test);
    }
  }
  budget.codes -= tests.size;
  if (budget.codes < 0)
    throw new FhirError('expansion-too-costly', `A search may look for ${MOST_SEARCHED_CODES} codes`);
  const condition: Condition = tests.size === 0 ? NOTHING : { param, any: [...tests.values()] };
  return isNot ? { not: condition } : condition;
}

/** Resolves each condition of a filter. */
async function inFilter(
  filter: Condition | FilterCriterion,
  inner: (criterion: Criterion) => Promise<Condition>,
): Promise<Condition> {
  const each = async (conditions: readonly Criterion[]): Promise<readonly Condition[]> => {
    const made: Condition[] = [];
    for (const one of conditions) made.push(await inner(one));
    return made;
  };
  if ('all' in filter) return { all: await each(filter.all) };
  if ('some' in filter) return { some: await each(filter.some) };
  return 'not' in filter ? { not: await inner(filter.not) } : filter;
}

/** The named ids and those above or below them, level by level. A resource that was found before ends a cycle. */
async function follow(hierarchy: Hierarchy, source: HierarchySource, budget: Budget): Promise<ReadonlySet<string>> {
  const found = new Set(hierarchy.ids);
  let level: readonly string[] = hierarchy.ids;
  for (let depth = 1; level.length > 0; depth++) {
    const next: string[] = [];
    for await (const id of neighbours(hierarchy, level, source)) {
      if (found.has(id)) continue;
      if (depth > MAX_HIERARCHY.levels) throw tooMuch(hierarchy, `${MAX_HIERARCHY.levels} levels`);
      if (budget.room-- === 0) throw tooMuch(hierarchy, `${MAX_HIERARCHY.resources} resources`);
      found.add(id);
      next.push(id);
    }
    level = next;
  }
  return found;
}

/** The ids one level above or below some resources; an id may appear twice. */
async function* neighbours(
  { direction, type, by }: Hierarchy,
  ids: readonly string[],
  source: HierarchySource,
): AsyncGenerator<string> {
  const where: Condition = direction === 'above' ? { ids } : { param: by, any: testsOf(type, ids) };
  for await (const version of findAll(
    { type, where, sort: [], count: PAGE, total: 'none' },
    source.find,
    source.signal,
  )) {
    if (direction === 'below') yield version.id;
    else yield* parentsOf(version, by, source);
  }
}

/** Ids of the resources of the same type on this server that a resource refers to by a parameter. */
function parentsOf({ type, json }: StoredVersion, by: string, { extract }: HierarchySource): string[] {
  if (json === undefined) return [];
  return extract(readJson(json, DEPTH) as Resource, 'words').flatMap((entry) => {
    if (entry.kind !== 'reference' || entry.param !== by || entry.type !== type || entry.id === undefined) return [];
    return entry.base === undefined ? [entry.id] : [];
  });
}

function testsOf(type: string, ids: Iterable<string>) {
  return [...ids].map((id) => ({ is: 'reference', types: [type], id }) as const);
}

function tooMuch({ direction, type, ids }: Hierarchy, what: string): FhirError {
  const [first = '', ...others] = ids;
  const names = `${type}/${first}${others.length === 0 ? '' : ` and ${others.length} more`}`;
  const hint = `name one further ${direction === 'below' ? 'down' : 'up'}, or search level by level`;
  return new FhirError('too-costly', `Hierarchies lead to more than ${what}, ${direction} ${names}; ${hint}`);
}
