import type { Call } from '../core/call.js';
import { BINARY } from '../core/binary/binary-content.js';
import { openBinaries } from '../core/binary/with-data.js';
import { parseStored } from '../core/parse-stored.js';
import { describeStaleIndex, staleParameters } from '../core/definitions/index-status.js';
import { constrainSearch, type SearchBounds } from '../search-execution/authorize/constrain-search.js';
import { findPage, readTargets } from '../search-execution/execute/find-page.js';
import { scopeOf } from '../search-execution/parse/scope.js';
import { readSearchRequest, type SearchRequest } from '../search-execution/parse/search-request.js';
import type { Services } from '../core/services.js';
import { FhirError } from '../fhir/errors.js';
import { yieldToEventLoop } from '../fhir/yield-to-event-loop.js';
import type { Resource } from '../fhir/resource.js';
import { choicesOf, type NarrowingParameter } from '../search/narrow-by-path.js';
import { holdsLink } from '../search/query/criterion.js';
import type { CountQuery, CountRow } from '../store/store.js';
import type { Plan } from './plan.js';
import { StatementError } from './statement.js';
import { attemptOrIgnore } from '../fhir/attempt.js';

/** The search behind a statement, within the scopes of the token. */
export interface Matches {
  /** A batch of the resources found, in an order that stays. @param after `next` of the batch before */
  batch(after: string | undefined, count: number): Promise<Batch>;
  /** How many resources the search finds. */
  total(): Promise<number>;
  /** How many of them have each combination of texts; undefined: the store cannot count them by these, or there are more rows than wanted. */
  countBy(by: CountQuery['by'], most: number): Promise<readonly CountRow[] | undefined>;
}

/** Resources in a row. */
export interface Batch {
  readonly resources: readonly Resource[];
  /** Absent: these were the last. */
  readonly next?: string;
}

/**
 * Opens the search that a plan leads to. Parameters that only narrow it are left out where it cannot be read with them, or where
 * the index cannot be trusted with them.
 *
 * @throws StatementError for parameters of `search_match` that are not valid
 * @throws FhirError `scope-missing`
 */
export async function openMatches(type: string, plan: Plan, call: Call, services: Services): Promise<Matches> {
  const search: Call = {
    interaction: 'search-type',
    ...{ principal: call.principal, base: call.base, type },
    ...(call.trace !== undefined && { trace: call.trace }),
    ...(call.signal !== undefined && { signal: call.signal }),
    params: new URLSearchParams(),
    conditions: {},
    prefer: {},
  };
  const request = await readPlan(type, plan, services);
  const scope = scopeOf({ type }, services.tables);
  const { constraints }: SearchBounds = await constrainSearch(search, scope, request, services);
  const parts = [{ type, where: { all: [] } }];
  const find = (count: number, total: 'accurate' | 'none', after?: string) =>
    findPage(
      parts,
      request,
      { sort: [], count, total, ...(after !== undefined && { after }) },
      search,
      services,
      constraints,
    );
  return {
    async batch(after, count) {
      const { versions, next } = await find(count, 'none', after);
      const resources: Resource[] = [];
      const pace = yieldToEventLoop();
      const withData = type === BINARY ? openBinaries(services.store.blobs) : undefined;
      for (const { json } of versions) {
        if (json === undefined) continue;
        await pace();
        const parsed = parseStored(json, services);
        const resource = parsed instanceof Promise ? await parsed : parsed;
        resources.push(withData === undefined ? resource : await withData(resource));
      }
      return { resources, ...(next !== undefined && { next }) };
    },
    total: async () => (await find(0, 'accurate')).total ?? 0,
    async countBy(by, most) {
      // Its content is elsewhere.
      if (type === BINARY) return undefined;
      const [target, ...others] = await readTargets(parts, request, call.signal, services, constraints);
      if (target === undefined) return [];
      if (others.length > 0 || holdsLink(target.where)) return undefined;
      return services.store.countBy({ ...target, by, most }, call.signal);
    },
  };
}

async function readPlan(type: string, { required, helping }: Plan, services: Services): Promise<SearchRequest> {
  const read = (params: readonly NarrowingParameter[]): SearchRequest =>
    readSearchRequest(
      {
        type,
        params: params.map(([name, value]) => ({ name, value, isInUrl: false })),
        isLenient: false,
        isPosted: true,
        now: Date.now(),
      },
      services,
    );
  const needed = asStatement(() => read(required));
  const stale = describeStaleIndex(await staleParameters(needed, services));
  if (stale !== undefined) throw new StatementError(stale);
  for (const chosen of choicesOf(helping)) {
    const narrowed = attemptOrIgnore(() => read([...required, ...chosen]));
    if (narrowed !== undefined && (await staleParameters(narrowed, services)).length === 0) return narrowed;
  }
  return needed;
}

/** What is wrong with a parameter of `search_match` is an error of the statement. */
function asStatement<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof FhirError) throw new StatementError(error.message);
    throw error;
  }
}
