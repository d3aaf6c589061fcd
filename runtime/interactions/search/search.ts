import type { OutcomeIssue } from '../../fhir/outcome-issue.js';
import type { FindPage, FindQuery } from '../../store/store.js';
import type { Call, Reply } from '../../core/call.js';
import { findPage } from '../../core/search/execute/find-page.js';
import { openGraph } from '../../core/search/graph/include-graph.js';
import { containedChainWarnings } from '../../core/search/contained/contained-chains.js';
import {
  checkContainedScope,
  cutContained,
  containedCutWarnings,
} from '../../core/search/contained/contained-search.js';
import { describeStaleIndex } from '../../core/definitions/index-status.js';
import { staleParameters } from '../../core/definitions/stale-parameters.js';
import { checkForm, writeLink } from '../../core/search/pages/page-form.js';
import { PAGE_PARAMETER } from '../../core/search/pages/page-link.js';
import { constrainSearch, type SearchConstraints } from '../../core/search/authorize/constrain-search.js';
import { replySearchBundle } from '../../core/search/present/search-bundle.js';
import { includesCutWarning, graphCutWarning } from '../../core/search/present/warnings.js';
import { readMembership } from '../../core/search/parse/search-parts.js';
import { readSearchRequest, type SearchRequest } from '../../core/search/parse/search-request.js';
import { scoresOf } from '../../core/search/present/scores.js';
import { scopeOf, type SearchScope } from '../../core/search/parse/scope.js';
import { includeViews, matchViews } from '../../core/search/present/search-views.js';
import { checkEffect, openWalk, sealWalk, type Walk } from '../../core/search/pages/walk.js';
import { TYPES } from '../../core/search/parse/read-types.js';
import { versionedChainWarnings } from '../../core/search/present/versioned-chains.js';
import type { Services } from '../../core/services.js';
import { unindexedWarnings } from '../../core/search/present/unindexed-warnings.js';
import { renderPage } from '../../core/search/present/render-page.js';
import { disclosedTimestamp } from '../../core/access/disclosed-timestamp.js';

/**
 * `GET [base]/[type]?…`, `[base]/[type]/[id]/[type or *]?…` and `[base]?…`, and `POST` to the same with `_search`: a page of
 * the resources that match, and of what is to come with them. https://hl7.org/fhir/R5/http.html#search
 */
export async function search(call: Call, services: Services): Promise<Reply> {
  checkForm(call);
  const { subset } = services;
  const scope = scopeOf(call, services.tables);
  const walk = await openWalk(call, services.pages);
  const isFirst = walk.after === undefined;
  const source = { now: walk.began, base: call.base };
  const request = readSearchRequest(
    {
      ...source,
      ...(scope.type === undefined ? { types: scope.types } : { type: scope.type }),
      params: walk.params,
      isLenient: (call.prefer.handling ?? services.search.handling) === 'lenient',
      isPosted: call.form !== undefined || !isFirst,
    },
    services,
  );
  checkContainedScope(request, scope);
  const bounds = await constrainSearch(call, scope, request, services);
  const effect = bounds?.effect ?? '';
  checkEffect(walk, effect);
  const { maxResults = Infinity, view } = request;
  const { include, types } = bounds ?? request;
  const count = Math.min(request.count, maxResults - walk.shown);
  const query = {
    sort: request.sort,
    count,
    total: request.total,
    ...(walk.after !== undefined && { after: walk.after }),
    ...(include !== undefined && { include }),
  };
  const { parts, used } = readMembership(scope, types, source, services);
  const graph =
    request.graph === undefined ? undefined : await openGraph(request.graph, types, walk.began, call, services);
  const page = await findPage(parts, request, query, call, services, bounds);
  const versions = await cutContained(page.versions, services);
  const shown = walk.shown + page.versions.length;
  const hasNext = count > 0 && page.next !== undefined && shown < maxResults;
  const next = hasNext
    ? await nextLink(call, scope, request, { ...walk, shown, after: page.next, effect }, services)
    : undefined;
  const total = totalOf(page, query);
  const isAcross = scope.type === undefined || request.contained !== undefined;
  const { includes } = services.search;
  const there = page.included ?? [];
  const reached = await graph?.follow(page.versions, there, includes - there.length);
  const included = [...there, ...(reached?.included ?? [])];
  const asked = [...request.used, ...used, ...(graph?.used ?? [])];
  return replySearchBundle({
    page: {
      ...page,
      versions,
      complete: disclosedTimestamp(page.complete, call.principal.access, services.tables.resourceTypes),
    },
    ...(total !== undefined && { total }),
    base: call.base,
    self: isFirst ? selfLink(call, scope, request, bounds) : writeLink(call, scope.path, pageParameter(call)),
    ...(next !== undefined && { next }),
    texts: await renderPage(versions, matchViews(view, isAcross, subset), services),
    ...(request.scored !== undefined && { scores: await scoresOf(page.versions, request.scored, services) }),
    included,
    includedTexts: await renderPage(included, includeViews(view), services),
    notes: [
      ...request.notes,
      ...(include === undefined || page.cut === undefined ? [] : [includesCutWarning(page.cut, include)]),
      ...(reached?.isCut === true ? [graphCutWarning(includes)] : []),
      ...(await currencyNotes({ used: asked }, services)),
      ...(request.contained === undefined
        ? []
        : await containedCutWarnings(call.principal.access, services, call.signal)),
      ...(await versionedChainWarnings(request.criteria, page.versions, services)),
      ...(await containedChainWarnings(request.beyond ?? [], call.principal.access, services, call.signal)),
      ...(await unindexedWarnings(asked, types, call.principal.access, services, call.signal)),
    ],
  });
}

/** Nobody has to count what stands on one page. */
function totalOf(
  { total, versions, next }: FindPage,
  { after, total: wanted }: Pick<FindQuery, 'after' | 'total'>,
): number | undefined {
  const isAll = wanted !== 'none' && after === undefined && next === undefined;
  return total ?? (isAll ? versions.length : undefined);
}

/**
 * What was understood, as far as it was in the URL: nothing of a body gets into a link. Of types that nobody named those that
 * were searched, where these are not all.
 */
function selfLink(
  call: Call,
  { path }: SearchScope,
  { understood, types }: SearchRequest,
  bounds: SearchConstraints | undefined,
): string {
  const pairs = understood.filter(({ isInUrl }) => isInUrl).map(({ name, value }) => [name, value] as const);
  if (bounds !== undefined && bounds.types.length < types.length) pairs.push([TYPES, bounds.types.join(',')]);
  return writeLink(call, call.form === undefined ? path : `${path}/_search`.replace(/^\//, ''), pairs);
}

function pageParameter({ params }: Call): [string, string][] {
  const token = params.get(PAGE_PARAMETER);
  return token === null ? [] : [[PAGE_PARAMETER, token]];
}

async function nextLink(
  call: Call,
  { path }: SearchScope,
  { understood }: SearchRequest,
  walk: Walk,
  { pages }: Services,
): Promise<string> {
  const token = await sealWalk(call, { ...walk, params: understood }, pages);
  return writeLink(call, path, [[PAGE_PARAMETER, token]]);
}

/** Of the parameters that were used: which of them may miss or add results. */
async function currencyNotes(request: Pick<SearchRequest, 'used'>, services: Services): Promise<OutcomeIssue[]> {
  const text = describeStaleIndex(await staleParameters(request, services));
  return text === undefined ? [] : [{ severity: 'warning', issue: 'incomplete', code: 'index-not-current', text }];
}
