import { disclosedTimestamp } from '../../core/access/disclosed-timestamp.js';
import type { Call, Reply } from '../../core/call.js';
import { constrainSearch, type SearchBounds } from '../../search-execution/authorize/constrain-search.js';
import { checkContainedScope, cutContained } from '../../search-execution/contained/contained-search.js';
import { findPage, readTargets } from '../../search-execution/execute/find-page.js';
import { openGraph } from '../../search-execution/graph/include-graph.js';
import {
  checkEffect,
  checkForm,
  nextLink,
  openWalk,
  selfLink,
  type PageWalk,
} from '../../search-execution/pages/page-walk.js';
import { readMembership, scopeOf, TYPES, type SearchScope } from '../../search-execution/parse/scope.js';
import { readSearchRequest, type SearchRequest } from '../../search-execution/parse/search-request.js';
import { includeViews, matchViews, renderPage } from '../../search-execution/present/render-page.js';
import { scoresOf } from '../../search-execution/present/scores.js';
import { replySearchBundle } from '../../search-execution/present/search-bundle.js';
import { searchWarnings } from '../../search-execution/present/warnings.js';
import type { Services } from '../../core/services.js';
import { shippedMatches } from '../../core/shipped/shipped-matches.js';
import { SHIPPED_TYPES } from '../../core/shipped/shipped-pack.js';
import { checkPatientNamed } from '../../exchange/named-patient.js';
import { unknownDomainWarnings } from '../../exchange/unknown-domains.js';
import type { Target } from '../../search/query/query.js';
import type { UsedParameter } from '../../search/parse/used-by.js';
import type { FindPage, StoredVersion } from '../../store/store.js';

const PATIENT = 'Patient';

/**
 * `GET [base]/[type]?…`, `[base]/[type]/[id]/[type or *]?…` and `[base]?…`, and `POST` to the same with `_search`: a page of the
 * resources that match, with their includes. https://hl7.org/fhir/R5/http.html#search
 */
export async function search(call: Call, services: Services): Promise<Reply> {
  const asked = await parseSearch(call, services);
  const bounds = await authorizeSearch(asked, call, services);
  const found = await execute(asked, bounds, call, services);
  return present(asked, bounds, found, call, services);
}

/** Search as the client asked for it. */
export interface SearchCall {
  readonly scope: SearchScope;
  readonly walk: PageWalk;
  readonly request: SearchRequest;
}

/** Reads the URL, the form and the page link. @throws FhirError for each parameter that is not valid */
export async function parseSearch(call: Call, services: Services): Promise<SearchCall> {
  checkForm(call);
  const scope = scopeOf(call, services.tables);
  const walk = await openWalk(call, services.pages);
  const request = readSearchRequest(
    {
      type: scope.type,
      types: scope.types,
      params: walk.params,
      isLenient: (call.prefer.handling ?? services.search.handling) === 'lenient',
      isPosted: call.form !== undefined || walk.after !== undefined,
      now: walk.began,
    },
    services,
  );
  if (request.contained !== undefined) checkContainedScope(request, scope);
  const named = { types: request.types, compartment: scope.compartment?.row.type, params: walk.params };
  checkPatientNamed(named, services.exchange.actors);
  return { scope, walk, request };
}

/** Compares the search with the scopes of the token. @throws FhirError `scope-missing`, `page-invalid` */
export async function authorizeSearch(
  { scope, walk, request }: SearchCall,
  call: Call,
  services: Services,
): Promise<SearchBounds> {
  const bounds = await constrainSearch(call, scope, request, services);
  checkEffect(walk, bounds.effect);
  return bounds;
}

/** What the store found. */
interface Found {
  readonly page: FindPage;
  /** Greatest number of matches on the page; 0: only the total is asked for. */
  readonly count: number;
  /** The resources that come with the matches. */
  readonly included: readonly StoredVersion[];
  readonly isGraphCut: boolean;
  /** The parameters that decided what was found. */
  readonly used: readonly UsedParameter[];
  /** Names of search rows that were not current before. */
  readonly staleBefore: readonly string[];
}

/** Asks the store for one page: matches, includes and total from one snapshot; then follows the graph. */
async function execute(
  { scope, walk, request }: SearchCall,
  { types, include, constraints }: SearchBounds,
  call: Call,
  services: Services,
): Promise<Found> {
  const { sort, total, maxResults = Infinity } = request;
  const staleBefore = await services.indexStatus.notCurrent();
  const { parts, used } = readMembership(scope, types, { now: walk.began }, services);
  const graph =
    request.graph === undefined ? undefined : await openGraph(request.graph, types, walk.began, call, services);
  const count = Math.min(request.count, maxResults - walk.shown);
  const query = { sort, count, total, after: walk.after, include };
  const stored = await findPage(parts, request, query, call, services, constraints);
  const page = await withShipped(stored, parts, request, count, call, services, constraints);
  const there = page.included ?? [];
  const reached = await graph?.follow(page.versions, there, services.search.includes - there.length);
  return {
    page,
    count,
    included: [...there, ...(reached?.included ?? [])],
    isGraphCut: reached?.isCut === true,
    used: [...request.used, ...used, ...(graph?.used ?? [])],
    staleBefore,
  };
}

/**
 * The page with the shipped definitions that the search finds, behind all that is stored, as far as the page has room. All pages have
 * the same total.
 */
async function withShipped(
  page: FindPage,
  parts: readonly Target[],
  request: SearchRequest,
  count: number,
  call: Call,
  services: Services,
  constraints: SearchBounds['constraints'],
): Promise<FindPage> {
  const [only] = parts;
  if (services.shipped === undefined || parts.length !== 1 || only === undefined) return page;
  if (!SHIPPED_TYPES.has(only.type) || request.contained !== undefined) return page;
  const [target = only] = await readTargets(parts, request, call.signal, services, constraints);
  const found = await shippedMatches(target, call.base, services);
  if (found.length === 0) return page;
  const room = page.next === undefined ? Math.max(0, count - page.versions.length) : 0;
  return {
    ...page,
    versions: [...page.versions, ...found.slice(0, room)],
    ...(page.total !== undefined && { total: page.total + found.length }),
  };
}

/** Makes the Bundle: links, the texts of the resources, and warnings. */
async function present(
  { scope, walk, request }: SearchCall,
  { types, include, effect }: SearchBounds,
  { page, count, included, isGraphCut, used, staleBefore }: Found,
  call: Call,
  services: Services,
): Promise<Reply> {
  const { contained, view, scored, maxResults = Infinity } = request;
  const versions = contained === undefined ? page.versions : await cutContained(page.versions, services);
  const isAcross = scope.type === undefined || contained !== undefined;
  const shown = walk.shown + page.versions.length;
  const hasNext = count > 0 && page.next !== undefined && shown < maxResults;
  const further = { ...walk, params: request.understood, shown, after: page.next ?? '', effect };
  const total = page.total ?? (isComplete(request, walk, page) ? page.versions.length : undefined);
  const reply = replySearchBundle({
    page: {
      versions,
      complete: disclosedTimestamp(page.complete, call.principal.access, services.tables.resourceTypes),
    },
    ...(total !== undefined && { total }),
    base: call.base,
    self: selfLink(call, scope.path, walk.after === undefined ? namedParameters(request, types) : undefined),
    ...(hasNext && { next: await nextLink(call, scope.path, further, services.pages) }),
    texts: await renderPage(versions, matchViews(view, isAcross, services.subset), services),
    ...(scored !== undefined && { scores: await scoresOf(page.versions, scored, services) }),
    included,
    includedTexts: await renderPage(included, includeViews(view), services),
    notes: [
      ...(await searchWarnings({ request, types, used, staleBefore, page, include, isGraphCut }, call, services)),
      ...(total === 0
        ? await unknownDomainWarnings({ type: scope.type, criteria: request.criteria }, call, services)
        : []),
    ],
  });
  const about = foundAbout(scope.type, total, versions, call);
  return about === undefined ? reply : { ...reply, about };
}

/** Matches whose patient the audit names: a patient that is found alone (ITI-78), and what is found by `patient.identifier` (ITI-66, ITI-67). */
function foundAbout(
  type: string | undefined,
  total: number | undefined,
  versions: FindPage['versions'],
  { params, form }: Call,
): Reply['about'] {
  if (type === undefined) return undefined;
  if (type === PATIENT) return total === 1 ? versions.map(({ id }) => ({ type, id })) : undefined;
  const isNamed = [...params.keys(), ...(form?.keys() ?? [])].some((name) => name.startsWith('patient.'));
  return isNamed ? versions.map(({ id, json }) => ({ type, id, ...(json !== undefined && { json }) })) : undefined;
}

/** Whether all matches are on this page, so that their total is known without counting. */
function isComplete({ total }: SearchRequest, { after }: PageWalk, { next }: FindPage): boolean {
  return total !== 'none' && after === undefined && next === undefined;
}

/** The parameters of the `self` link. `_type` is added where the token shows only some of all types. */
function namedParameters({ understood, types: asked }: SearchRequest, types: readonly string[]) {
  if (types.length === asked.length) return understood;
  return [...understood, { name: TYPES, value: types.join(','), isInUrl: true }];
}
