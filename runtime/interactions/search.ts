import { FhirError } from '../fhir/errors.js';
import type { Note } from '../fhir/note.js';
import { searchDefinitions } from '../search/query/definitions.js';
import type { FindPage, FindQuery } from '../store/store.js';
import type { Call, Reply } from './call.js';
import { describeCurrency } from './index-currency.js';
import { checkForm, writeLink } from './page-form.js';
import { PAGE_PARAMETER } from './page-link.js';
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
  const query: FindQuery = {
    type,
    where: request.where,
    sort: request.sort,
    count,
    total: request.total,
    ...(walk.after !== undefined && { after: walk.after }),
  };
  const page = await find(query, call, services);
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

/** @throws FhirError `too-costly` with what could be done about it */
async function find(query: FindQuery, { signal }: Call, { store }: Services): Promise<FindPage> {
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
function totalOf({ total, versions, next }: FindPage, { after, total: wanted }: FindQuery): number | undefined {
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
async function currencyNotes({ type, used }: SearchRequest, { currency, tables }: Services): Promise<Note[]> {
  const rows = new Set(await currency?.notCurrent());
  if (rows.size === 0) return [];
  const definitions = searchDefinitions(tables);
  // These two stand in the resource itself.
  const codes = used.filter((code) => code !== '_id' && code !== '_lastUpdated');
  const names = codes.map((code) => definitions.recordName(type, code) ?? code).filter((name) => rows.has(name));
  const text = describeCurrency(names);
  return text === undefined ? [] : [{ severity: 'warning', issue: 'incomplete', code: 'index-not-current', text }];
}
