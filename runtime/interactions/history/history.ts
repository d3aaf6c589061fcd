import { createHash } from 'node:crypto';

import { OPEN_ACCESS } from '../../auth/scopes/principal.js';
import { FhirError } from '../../fhir/errors.js';
import { newId } from '../../fhir/id.js';
import { FORM } from '../../search/control-parameters.js';
import type { HistoryQuery } from '../../store/store.js';
import type { Call, Reply } from '../../core/call.js';
import { writeHistoryBundle } from './history-bundle.js';
import { historyParameters, readHistoryQuery } from './history-query.js';
import { hasVisibleHistory, visibleHistory, type VisiblePage } from './history-visibility.js';
import { isWhollyHiddenByIndex } from '../../core/access/index-visibility.js';
import { checkForm, writeLink } from '../../search-execution/pages/page-walk.js';
import { PAGE_PARAMETER, type PageState } from '../../core/search-services/page-links/page-link.js';
import { checkParameters, singleParameter } from '../../core/parameters.js';
import type { Services } from '../../core/services.js';
import { renderPage } from '../../search-execution/present/render-page.js';
import { disclosedTimestamp } from '../../core/access/disclosed-timestamp.js';
import { readView } from '../../core/view.js';

/** Parameters in a page token: all that affect the content of the pages. */
const CARRIED = ['_since', '_at', '_count', '_summary', '_elements'];

/**
 * `GET [base]/_history`, `[base]/[type]/_history` and `[base]/[type]/[id]/_history`: versions newest first, deletions
 * included, in pages of one snapshot. `meta.lastUpdated` is the value for `_since` of the client's next request.
 * https://hl7.org/fhir/R5/http.html#history
 */
export async function history(call: Call, services: Services): Promise<Reply> {
  const taken = [...historyParameters(services), PAGE_PARAMETER];
  checkParameters(call, taken);
  checkForm(call);
  const state = await openPage(call, services);
  const asked = state === undefined ? call : { ...call, params: new URLSearchParams(state.query) };
  const selection = readHistoryQuery(asked, services);
  const isTotalOnly = selection.count === 0;
  const view = isTotalOnly ? undefined : readView(asked, services);
  const { type } = call;
  const id = await lookedId(call, services);
  const query = {
    ...selection,
    ...(type === undefined ? {} : { type }),
    ...(id === undefined ? {} : { id }),
    ...(state === undefined ? {} : { after: state.after }),
  };
  const page = await visibleHistory(query, call, services, totalOf(state, call));
  if (page.versions.length === 0 && !(page.total !== undefined && page.total > 0)) {
    await checkExists(query, call, services);
  }
  const next = isTotalOnly ? undefined : await nextLink(call, asked, page, services);
  const known = { since: query.since, shown: page.versions[0]?.lastUpdated };
  const json = writeHistoryBundle({
    page: {
      ...page,
      complete: disclosedTimestamp(page.complete, call.principal.access, services.tables.resourceTypes, known),
    },
    base: call.base,
    self: link(
      call,
      [...call.params].filter(([name]) => taken.includes(name)),
    ),
    ...(next === undefined ? {} : { next }),
    isTotalOnly,
    texts: await renderPage(page.versions, () => view, services),
  });
  return { status: 200, json };
}

async function openPage(call: Call, { pages }: Services): Promise<PageState | undefined> {
  // A cut link is refused: as an absent parameter it would lead back to the first page.
  const token = call.params.get(PAGE_PARAMETER) === '' ? '' : singleParameter(call, PAGE_PARAMETER);
  if (token === undefined) return undefined;
  const others = [...call.params.keys()].filter((name) => name !== PAGE_PARAMETER && !FORM.has(name));
  if (others.length > 0 && call.prefer.handling !== 'lenient') {
    throw new FhirError('parameter-invalid', `A page link is complete; it takes no "${others[0]?.slice(0, 64)}"`);
  }
  return pages.open(call, token);
}

/** The id to look up: a new, unused one if the client may see nothing of the instance. */
async function lookedId(call: Call, services: Services): Promise<string | undefined> {
  const { type, id } = call;
  if (type === undefined || id === undefined) return id;
  return (await isWhollyHiddenByIndex({ type, id }, 'r', call, services)) ? newId() : id;
}

/** Checks, for an empty page, that the instance exists: older versions may be outside the selection. @throws FhirError `not-found` */
async function checkExists(of: Pick<HistoryQuery, 'type' | 'id'>, call: Call, services: Services): Promise<void> {
  if (!(await hasVisibleHistory(of, call, services)))
    throw new FhirError('not-found', `There is no ${call.type}/${call.id}`);
}

/** Token parameter with the total on the first page and a hash of the client's scopes; used if access is restricted. */
const TOTAL = '_total';

/** The total in a page token; undefined if the client's scopes have changed, because the visible versions may differ. */
function totalOf(state: PageState | undefined, call: Call): number | undefined {
  const text = state === undefined ? null : new URLSearchParams(state.query).get(TOTAL);
  const [total, hash] = text?.split(' ') ?? [];
  return total === undefined || hash !== scopeHash(call) ? undefined : Number(total);
}

/** Short hash of the client's scopes. */
function scopeHash({ principal: { scope } }: Call): string {
  return createHash('sha256').update(scope).digest('base64url').slice(0, 16);
}

async function nextLink(call: Call, asked: Call, page: VisiblePage, { pages }: Services): Promise<string | undefined> {
  if (page.next === undefined) return undefined;
  const query = new URLSearchParams([...asked.params].filter(([name]) => CARRIED.includes(name)));
  if (page.total !== undefined && call.principal.access !== OPEN_ACCESS) {
    query.set(TOTAL, `${page.total} ${scopeHash(call)}`);
  }
  return link(call, [[PAGE_PARAMETER, await pages.seal(call, { query: query.toString(), after: page.next })]]);
}

function link(call: Call, params: readonly (readonly [string, string])[]): string {
  return writeLink(call, [call.type, call.id, '_history'].filter((part) => part !== undefined).join('/'), params);
}
