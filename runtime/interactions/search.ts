import { FhirError } from '../fhir/errors.js';
import type { Note } from '../fhir/note.js';
import type { FindPage, FindQuery, Store } from '../store/store.js';
import type { Call, Reply } from './call.js';
import { describeCurrency } from './index-currency.js';
import { namesNotCurrent } from './names-not-current.js';
import { checkForm, writeLink } from './page-form.js';
import { PAGE_PARAMETER } from './page-link.js';
import { resolveCriteria } from './resolve-hierarchies.js';
import { withinBudget } from './search-budget.js';
import { writeSearchBundle } from './search-bundle.js';
import { readSearchRequest, type SearchRequest } from './search-request.js';
import { openWalk, sealWalk, type Walk } from './search-walk.js';
import type { Services } from './services.js';
import { showPage } from './show-page.js';
import { typeOf } from './target.js';

/**
 * `GET [base]/[type]?…` and `POST [base]/[type]/_search`: a page of the resources that match.
 * https://hl7.org/fhir/R5/http.html#search
 */
export async function searchType(call: Call, services: Services): Promise<Reply> {
  checkForm(call);
  const type = typeOf(call);
  const walk = await openWalk(call, services.pages);
  const isFirst = walk.after === undefined;
  const request = readSearchRequest(
    {
      type,
      params: walk.params,
      isLenient: (call.prefer.handling ?? services.search?.handling) === 'lenient',
      isPosted: call.form !== undefined || !isFirst,
      now: walk.began,
      base: call.base,
    },
    services,
  );
  const { maxResults = Infinity, view } = request;
  const count = Math.min(request.count, maxResults - walk.shown);
  const query = {
    type,
    sort: request.sort,
    count,
    total: request.total,
    ...(walk.after !== undefined && { after: walk.after }),
  };
  const page = await findPage(request, query, call, services);
  const shown = walk.shown + page.versions.length;
  const hasNext = count > 0 && page.next !== undefined && shown < maxResults;
  const next = hasNext ? await nextLink(call, request, { ...walk, shown, after: page.next }, services) : undefined;
  const total = totalOf(page, query);
  const json = writeSearchBundle({
    page,
    ...(total !== undefined && { total }),
    base: call.base,
    self: isFirst ? selfLink(call, request) : writeLink(call, type, pageParameter(call)),
    ...(next !== undefined && { next }),
    texts: await showPage(page.versions, view, services),
    notes: [...request.notes, ...(await currencyNotes(request, services))],
  });
  return { status: 200, json };
}

/** A page of what fulfils all criteria; hierarchies that they name are followed first, within the same time. */
async function findPage(
  { criteria }: SearchRequest,
  query: Omit<FindQuery, 'where'>,
  { signal, base }: Call,
  { store, extract, limits }: Services,
): Promise<FindPage> {
  const run = async (within: AbortSignal | undefined): Promise<FindPage> => {
    const source = { find: (each: FindQuery) => store.find(each, within), extract, signal: within, base };
    const where = await resolveCriteria(criteria, source);
    return find({ ...query, where }, within, store);
  };
  const isOne = !criteria.some((criterion) => 'hierarchies' in criterion);
  return isOne ? run(signal) : withinBudget(limits.queryTime, signal, run);
}

/** @throws FhirError `too-costly` with what could be done about it */
async function find(query: FindQuery, signal: AbortSignal | undefined, store: Pick<Store, 'find'>): Promise<FindPage> {
  try {
    return await store.find(query, signal);
  } catch (error) {
    if (!(error instanceof FhirError) || error.code !== 'too-costly') throw error;
    const hints = [
      'add a criterion that few resources fulfil',
      ...(query.total === 'accurate' && query.count > 0 ? ['leave out _total=accurate'] : []),
      ...(query.sort.length > 0 ? ['leave out _sort'] : []),
    ];
    const { headers } = error;
    throw new FhirError('too-costly', `The search takes too long; ${hints.join(', or ')}`, { headers });
  }
}

/** Nobody has to count what stands on one page. */
function totalOf(
  { total, versions, next }: FindPage,
  { after, total: wanted }: Pick<FindQuery, 'after' | 'total'>,
): number | undefined {
  const isAll = wanted !== 'none' && after === undefined && next === undefined;
  return total ?? (isAll ? versions.length : undefined);
}

/** What was understood, as far as it was in the URL: nothing of a body gets into a link. */
function selfLink(call: Call, { type, understood }: SearchRequest): string {
  const pairs = understood.filter(({ isInUrl }) => isInUrl).map(({ name, value }) => [name, value] as const);
  return writeLink(call, call.form === undefined ? type : `${type}/_search`, pairs);
}

function pageParameter({ params }: Call): [string, string][] {
  const token = params.get(PAGE_PARAMETER);
  return token === null ? [] : [[PAGE_PARAMETER, token]];
}

async function nextLink(call: Call, request: SearchRequest, walk: Walk, { pages }: Services): Promise<string> {
  const token = await sealWalk(call, { ...walk, params: request.understood }, pages);
  return writeLink(call, request.type, [[PAGE_PARAMETER, token]]);
}

/** Of the parameters that were used: which of them may miss or add results. */
async function currencyNotes(request: SearchRequest, services: Services): Promise<Note[]> {
  const text = describeCurrency(await namesNotCurrent(request, services));
  return text === undefined ? [] : [{ severity: 'warning', issue: 'incomplete', code: 'index-not-current', text }];
}
