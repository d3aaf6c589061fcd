import { isContainedType } from '../../store/contained-resources.js';
import type { Explanation, FindQuery, IncludeDirective } from '../../store/store.js';
import type { Services } from '../../core/services.js';
import type { SearchBounds } from '../authorize/constrain-search.js';
import { checkContainedScope } from '../contained/contained-search.js';
import { readTargets } from '../execute/find-page.js';
import { withinBudget } from '../execute/search-budget.js';
import { readMembership, type SearchScope } from '../parse/scope.js';
import type { SearchRequest } from '../parse/search-request.js';

/** One of the queries that a search becomes: one for each type. */
export interface ExplainedQuery extends Omit<FindQuery, 'include' | 'after'> {
  /** What the store makes of it; undefined: this client may not see it. */
  readonly explanation: Explanation | undefined;
}

/** Explanation of a search: how it is understood, and what the store does for its first page. */
export interface ExplainedSearch {
  readonly queries: readonly ExplainedQuery[];
  /** What comes with the page; it is not followed. */
  readonly includes: readonly IncludeDirective[];
  /** The graph that is followed from the page, by searches of its own. */
  readonly graph: string | undefined;
  /** Warnings about the search. */
  readonly notes: readonly string[];
  /** Types that were left out, because there are too many. */
  readonly left: number;
}

/** A search that has been read. */
export interface ReadSearch {
  readonly scope: SearchScope;
  readonly request: SearchRequest;
  /** When it was asked: milliseconds since the epoch. */
  readonly now: number;
}

/** What explaining a search needs. */
type ExplainServices = Parameters<typeof readMembership>[3] &
  Parameters<typeof readTargets>[3] & { readonly limits: Pick<Services['limits'], 'queryTime'> };

/**
 * Explains a search. The first page of each type is searched for that, all within the time limit of one search; types without
 * resources are left out. What the store counts includes resources that the constraints of a token hide, so a client whose token
 * limits this search sees only how it is understood.
 *
 * @param bounds what the token allows of it
 * @param atMost types that are explained
 * @throws FhirError as the search itself
 */
export async function explainSearch(
  { scope, request, now }: ReadSearch,
  { types, include, effect, constraints }: SearchBounds,
  services: ExplainServices,
  { atMost = Infinity, signal }: { readonly atMost?: number; readonly signal?: AbortSignal | undefined } = {},
): Promise<ExplainedSearch> {
  const { store, limits } = services;
  const { sort, count, total, contained, graph, notes } = request;
  if (contained !== undefined) checkContainedScope(request, scope);
  const isWhole = effect === '';
  return withinBudget(limits.queryTime, signal, async (within) => {
    const isAcross = scope.type === undefined || contained !== undefined;
    const counts = isAcross && isWhole ? await store.counts() : undefined;
    const isThere = (type: string): boolean =>
      isContainedType(type) || type === scope.type || counts?.has(type) !== false;
    const { parts } = readMembership(scope, types.filter(isThere), { now }, services);
    const targets = await readTargets(parts, request, within, services, constraints);
    const there = targets.filter(({ type }) => isThere(type));
    const queries: ExplainedQuery[] = [];
    for (const target of there.slice(0, atMost)) {
      const query = { ...target, sort, count, total };
      queries.push({ ...query, explanation: isWhole ? await store.explain(query, within) : undefined });
    }
    return {
      queries,
      includes: include?.directives ?? [],
      graph,
      notes: notes.map(({ text }) => text),
      left: Math.max(0, there.length - atMost),
    };
  });
}
