import type { Call, Reply } from '../../core/call.js';
import { PAGE_PARAMETER } from '../../core/search-services/page-links/page-link.js';
import type { Services } from '../../core/services.js';
import { isObject, type JsonObject, type Resource } from '../../fhir/resource.js';
import { yieldToEventLoop } from '../../fhir/yield-to-event-loop.js';
import { readJson } from '../../format/read-json.js';
import { parseStored } from '../../core/parse-stored.js';
import { writeJson } from '../../format/write-json.js';
import { execute } from '../../interactions/execute.js';

/** Matches that one page of an inner search has. */
const PAGE = '500';

/**
 * Searches a type as a request of its own would, within the scopes of the token, and yields the matches of all pages.
 *
 * @param params search parameters, result parameters such as `_sort` included
 * @throws FhirError as a search: `scope-missing`, `parameter-invalid`, `too-costly`
 */
export async function* findMatches(
  type: string,
  params: readonly (readonly [string, string])[],
  call: Call,
  services: Services,
  signal = call.signal,
): AsyncGenerator<Resource> {
  let query = new URLSearchParams([...params.map(([name, value]): [string, string] => [name, value])]);
  if (!query.has('_count')) query.set('_count', PAGE);
  query.set('_total', 'none');
  const pace = yieldToEventLoop();
  for (;;) {
    signal?.throwIfAborted();
    const reply = await execute(searchCall(type, query, call, signal), services);
    const { entries, next } = openPage(reply);
    for (const text of entries) {
      await pace();
      const { resource, search } = (await parseStored(text, services)) as JsonObject;
      if (isObject(search) && search['mode'] === 'match' && isObject(resource)) yield resource as Resource;
    }
    const token = next === undefined ? null : new URL(next, 'http://localhost').searchParams.get(PAGE_PARAMETER);
    if (token === null) return;
    query = new URLSearchParams([[PAGE_PARAMETER, token]]);
  }
}

/** The first match of `findMatches`; undefined: there is none. */
export async function findFirst(
  type: string,
  params: readonly (readonly [string, string])[],
  call: Call,
  services: Services,
): Promise<Resource | undefined> {
  const matches = findMatches(type, [...params, ['_count', '1']], call, services);
  for await (const match of matches) return match;
  return undefined;
}

/** The search of a type as a call on behalf of the same client. */
export function searchCall(type: string, params: URLSearchParams, call: Call, signal = call.signal): Call {
  const { principal, base, trace } = call;
  return {
    interaction: 'search-type',
    ...{ principal, base, type, params },
    ...(trace !== undefined && { trace }),
    ...(signal !== undefined && { signal }),
    conditions: {},
    prefer: {},
  };
}

/** The entries of a page of a search, each as JSON text, and the link to the next one. */
function openPage({ json, bundle }: Reply): { entries: readonly string[]; next: string | undefined } {
  const head = readJson(bundle === undefined ? (json ?? '{}') : `${bundle.head}${bundle.tail}`) as JsonObject;
  const entries = bundle?.entries ?? ((head['entry'] as JsonObject[] | undefined) ?? []).map((each) => writeJson(each));
  const links = (head['link'] as { relation: string; url: string }[] | undefined) ?? [];
  return { entries, next: links.find(({ relation }) => relation === 'next')?.url };
}
