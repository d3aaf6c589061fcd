import { createHash } from 'node:crypto';

import { OPEN_ACCESS } from '../../auth/scopes/principal.js';
import { FhirError } from '../../fhir/errors.js';
import { newId } from '../../fhir/id.js';
import type { HistoryQuery } from '../../store/store.js';
import type { Call, Reply } from '../../core/call.js';
import { writeHistoryBundle } from './history-bundle.js';
import { HISTORY_PARAMETERS, readHistoryQuery } from './history-query.js';
import { hasVisibleHistory, visibleHistory, type VisiblePage } from './history-visibility.js';
import { isWhollyHiddenByIndex } from '../../core/access/index-visibility.js';
import { checkForm, FORM, writeLink } from '../../core/search/page-form.js';
import { PAGE_PARAMETER, type PageState } from '../../core/search/page-link.js';
import { checkParameters, singleParameter } from '../../core/parameters.js';
import type { Services } from '../../core/services.js';
import { renderPage } from '../../core/search/render-page.js';
import { disclosedTimestamp } from '../../core/access/disclosed-timestamp.js';
import { readView } from '../../core/view.js';

/** What a token carries: all that decides on the content of a walk. */
const CARRIED = ['_since', '_at', '_count', '_summary', '_elements'];

/**
 * `GET [base]/_history`, `[base]/[type]/_history` and `[base]/[type]/[id]/_history`: versions newest first, deletions
 * included, in pages of one snapshot. `meta.lastUpdated` is the instant to ask on from with `_since`.
 * https://hl7.org/fhir/R5/http.html#history
 */
export async function history(call: Call, services: Services): Promise<Reply> {
  checkParameters(call, [...HISTORY_PARAMETERS, ...(services.subset === undefined ? [] : ['_elements'])]);
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
      [...call.params].filter(([name]) => HISTORY_PARAMETERS.includes(name) || CARRIED.includes(name)),
    ),
    ...(next === undefined ? {} : { next }),
    isTotalOnly,
    texts: await renderPage(page.versions, () => view, services),
  });
  return { status: 200, json };
}

async function openPage(call: Call, { pages }: Services): Promise<PageState | undefined> {
  const token = singleParameter(call, PAGE_PARAMETER);
  if (token === undefined) return undefined;
  const others = [...call.params.keys()].filter((name) => name !== PAGE_PARAMETER && !FORM.has(name));
  if (others.length > 0 && call.prefer.handling !== 'lenient') {
    throw new FhirError('parameter-invalid', `A page link is complete; it takes no "${others[0]?.slice(0, 64)}"`);
  }
  return pages.open(call, token);
}

/** The id whose history is looked at: one that never was where all of it is hidden. */
async function lookedId(call: Call, services: Services): Promise<string | undefined> {
  const { type, id } = call;
  if (type === undefined || id === undefined) return id;
  return (await isWhollyHiddenByIndex({ type, id }, 'r', call, services)) ? newId() : id;
}

/** A history of nothing is a failure where the instance never was, and no match where it has older versions. */
async function checkExists(of: Pick<HistoryQuery, 'type' | 'id'>, call: Call, services: Services): Promise<void> {
  if (!(await hasVisibleHistory(of, call, services)))
    throw new FhirError('not-found', `There is no ${call.type}/${call.id}`);
}

/** In a token, where the store does not keep it: the total that the first page told, and to which scopes. */
const TOTAL = '_total';

/** None where whoever follows the link has other scopes than whom it was made for: they see something else. */
function totalOf(state: PageState | undefined, call: Call): number | undefined {
  const text = state === undefined ? null : new URLSearchParams(state.query).get(TOTAL);
  const [total, teller] = text?.split(' ') ?? [];
  return total === undefined || teller !== tellerOf(call) ? undefined : Number(total);
}

/** The scopes as a short text. */
function tellerOf({ principal: { scope } }: Call): string {
  return createHash('sha256').update(scope).digest('base64url').slice(0, 16);
}

async function nextLink(call: Call, asked: Call, page: VisiblePage, { pages }: Services): Promise<string | undefined> {
  if (page.next === undefined) return undefined;
  const query = new URLSearchParams([...asked.params].filter(([name]) => CARRIED.includes(name)));
  if (page.total !== undefined && call.principal.access !== OPEN_ACCESS) {
    query.set(TOTAL, `${page.total} ${tellerOf(call)}`);
  }
  return link(call, [[PAGE_PARAMETER, await pages.seal(call, { query: query.toString(), after: page.next })]]);
}

function link(call: Call, params: readonly (readonly [string, string])[]): string {
  return writeLink(call, [call.type, call.id, '_history'].filter((part) => part !== undefined).join('/'), params);
}
