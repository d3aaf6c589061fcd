import type { SearchRow } from '../../contract/search.js';
import { findPage } from '../../search-execution/execute/find-page.js';
import { searchContext } from '../../search-execution/parse/search-context.js';
import { yieldToEventLoop } from '../../fhir/yield-to-event-loop.js';
import { FhirError } from '../../fhir/errors.js';
import { isObject, type JsonValue, type Resource } from '../../fhir/resource.js';
import { compilePath } from '../../path/compile-path.js';
import type { OwnBases } from '../../path/own-bases.js';
import { readReference } from '../../path/reference-text.js';
import { parseCriterion } from '../../search/parse/parse-criterion.js';
import { EVERYTHING, type Condition, type ValueTest } from '../../search/query/query.js';
import type { StoredVersion } from '../../store/store.js';
import { boundsOf, type PlannedSearch } from '../plan/plan-search.js';
import { QUERY_LIMITS } from '../limits.js';
import type { Execution, Lookup } from './context.js';
import type { ResourceReader } from './read-resources.js';

/** Matches that one page of the store has. */
const PAGE = 500;

/** Resources whose reverse references are looked for in one search. */
const CHUNK = 200;

/** The matches of a list on the system. */
export function listAll(
  search: PlannedSearch,
  reader: ResourceReader,
  execution: Execution,
): Promise<Lookup<Resource[]>> {
  return asFound(() => matchesOf(search, EVERYTHING, reader, execution));
}

/** Whether all matches of a reverse look-up are wanted, and none of them are counted. */
function areAllWanted({ count, offset }: PlannedSearch): boolean {
  return count === undefined && offset === 0;
}

/**
 * The matches of a reverse look-up for each of several resources: in one search where all matches are wanted, in one for each where
 * each has a page of its own. https://hl7.org/fhir/R5/graphql.html#reverse
 *
 * @param targets names of the resources
 */
export async function listReferring(
  search: PlannedSearch,
  targets: readonly string[],
  reader: ResourceReader,
  execution: Execution,
): Promise<Map<string, Lookup<Resource[]>>> {
  const found = new Map<string, Lookup<Resource[]>>();
  const size = areAllWanted(search) ? CHUNK : 1;
  for (let at = 0; at < targets.length; at += size) {
    const some = targets.slice(at, at + size);
    const where = refersTo(search, some, execution);
    const all = await asFound(() => matchesOf(search, where, reader, execution, some.length));
    if ('fault' in all || some.length === 1) for (const each of some) found.set(each, all);
    else
      for (const [target, list] of distribute(search.by!, some, all.value, execution))
        found.set(target, { value: list });
  }
  return found;
}

/**
 * Runs a lookup. An error of the lookup becomes one of its fields. A failure of the store, or a defect, is thrown: it is an
 * error of the request.
 */
export async function asFound<T>(work: () => Promise<T>): Promise<Lookup<T>> {
  try {
    return { value: await work() };
  } catch (error) {
    if (
      error instanceof FhirError &&
      (error.status < 500 || error.code === 'too-costly' || error.code === 'index-not-current')
    ) {
      return { fault: error };
    }
    throw error;
  }
}

/** @throws FhirError `graphql-limit` where there are more than a list may have: a list is never cut */
async function matchesOf(
  search: PlannedSearch,
  where: Condition,
  reader: ResourceReader,
  execution: Execution,
  lists = 1,
): Promise<Resource[]> {
  const { type, count = Infinity, offset, fhirpath, request } = search;
  const most = QUERY_LIMITS.list * lists;
  const matches: Resource[] = [];
  let skipped = fhirpath === undefined ? 0 : offset;
  const wanted = fhirpath === undefined ? offset + count : Infinity;
  let seen = 0;
  const pace = yieldToEventLoop();
  for (let after: string | undefined; ;) {
    const size = Math.min(PAGE, Number.isFinite(wanted) ? wanted - seen : PAGE);
    if (size <= 0) break;
    const page = await onePage(search, where, { count: size, after, total: 'none' }, execution);
    for (const version of page.versions) {
      seen++;
      if (fhirpath === undefined && seen <= offset) continue;
      const taken = reader.take(version);
      const resource = taken instanceof Promise ? await taken : taken;
      if (fhirpath !== undefined) {
        await pace();
        if (!execution.filters.holds(fhirpath, resource, type, seen - 1, resource)) continue;
        if (skipped > 0) {
          skipped--;
          continue;
        }
      }
      matches.push(resource);
      if (matches.length === count) return matches;
      if (matches.length > most) throw tooMany(type, request.names.length > 0);
    }
    if (page.next === undefined) break;
    after = page.next;
  }
  return matches;
}

/** One page of a search within the scopes of the token. */
export async function onePage(
  { type, request, now: _now }: Pick<PlannedSearch, 'type' | 'request' | 'now'>,
  where: Condition,
  asked: { readonly count: number; readonly after?: string | undefined; readonly total: 'accurate' | 'none' },
  { call, services, signal }: Execution,
): Promise<{
  readonly versions: readonly StoredVersion[];
  readonly next?: string;
  readonly total?: number;
  readonly effect: string;
}> {
  signal?.throwIfAborted();
  const bounds = await boundsOf(type, request, call, services);
  const { count, after, total } = asked;
  const query = { sort: request.sort, count, total, ...(after !== undefined && { after }) };
  const within = signal === undefined ? {} : { signal };
  const { constraints, effect } = bounds;
  const page = await findPage([{ type, where }], request, query, within, services, constraints);
  return { ...page, effect };
}

/** The condition that a resource refers to one of these, which are named: as `Type/id,Type/id` is read, of a type the first one. */
function refersTo(
  { type, by, now }: Pick<PlannedSearch, 'type' | 'by' | 'now'>,
  targets: readonly string[],
  { services }: Execution,
): Condition {
  const input = { type, isPosted: true, isLenient: false, now };
  const { hierarchy: _none, ...context } = searchContext(input, services.search, services).context;
  const param = by!.code;
  const known = new Map<string, readonly ValueTest[]>();
  const any = targets.flatMap((name) => {
    const read = readReference(name);
    // What has no valid id nothing refers to.
    if (read === undefined) return [];
    let tests = known.get(read.type);
    if (tests === undefined) {
      const criterion = parseCriterion(param, name, context);
      known.set(read.type, (tests = 'any' in criterion ? criterion.any : []));
    }
    return tests.map((test): ValueTest => (test.is === 'reference' ? { ...test, id: read.id } : test));
  });
  return { param, any };
}

/** Gives each match to the resources that it refers to. */
function distribute(
  row: SearchRow,
  targets: readonly string[],
  matches: readonly Resource[],
  { services }: Execution,
): Map<string, Resource[]> {
  const lists = new Map<string, Resource[]>(targets.map((target) => [target, []]));
  const names = referredNames(row, services);
  for (const match of matches) for (const name of names(match)) lists.get(name)?.push(match);
  return lists;
}

/** What the text of a reference leads to on this server. */
function nameIn(text: string, own: OwnBases): string | undefined {
  const read = own.readLocal(text);
  return read && `${read.type}/${read.id}`;
}

type NamesOf = (resource: Resource) => Iterable<string>;

/** Reads off a resource what it refers to by a parameter: `Type/id`, each once. */
function referredNames(row: SearchRow, { extract, own }: Execution['services']): NamesOf {
  if (row.paths.some(({ isEvaluated }) => isEvaluated === true)) {
    return (resource) =>
      new Set(
        extract(resource, 'words').flatMap((each) =>
          each.kind === 'reference' && each.param === row.code && each.id !== undefined && each.base === undefined
            ? [`${each.type}/${each.id}`]
            : [],
        ),
      );
  }
  const paths = row.paths.map(compilePath);
  return (resource) => {
    const names = new Set<string>();
    for (const path of paths) {
      path(resource, (value) => {
        const text = referenceIn(value as JsonValue);
        const name = text === undefined ? undefined : nameIn(text, own);
        if (name !== undefined) names.add(name);
      });
    }
    return names;
  };
}

function referenceIn(value: JsonValue | undefined): string | undefined {
  if (typeof value === 'string') return value;
  return isObject(value) ? referenceIn(value['reference']) : undefined;
}

function tooMany(type: string, hasCriteria: boolean): FhirError {
  const hint = hasCriteria ? 'add criteria' : 'name criteria';
  return new FhirError(
    'graphql-limit',
    `More than ${QUERY_LIMITS.list} resources match; ${hint}, ask for fewer with _count, or in pages with ${type}Connection`,
  );
}
