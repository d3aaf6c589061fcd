import { scoresOf } from '../../search-execution/present/scores.js';
import type { PageBinding } from '../../core/search-services/page-links/page-link.js';
import { yieldToEventLoop } from '../../fhir/yield-to-event-loop.js';
import { FhirError } from '../../fhir/errors.js';
import type { JsonObject } from '../../fhir/resource.js';
import { EVERYTHING } from '../../search/query/query.js';
import { readRequest, sent, type PlannedSearch } from '../plan/plan-search.js';
import type { PlannedField } from '../plan/planner.js';
import { QUERY_LIMITS } from '../limits.js';
import type { Execution } from './context.js';
import type { ResourceReader } from './read-resources.js';
import { onePage } from './search-lists.js';

/** Where a page of a connection begins; a cursor carries it. */
interface Place {
  /** When the first page was asked for: milliseconds since the epoch. */
  readonly began: number;
  /** Matches on the pages before. */
  readonly offset: number;
  readonly size: number;
  /** The store's own cursor; absent: it is found by walking there. */
  readonly after?: string;
  /** The store's cursors of the pages before, the last ones: an empty text for the first page. */
  readonly trail: readonly string[];
  readonly fhirpath?: string;
  /** `SearchBounds.effect` of the page before; absent: this is the first one. */
  readonly effect?: string;
}

/** Pages before that a cursor remembers. */
const TRAIL = 10;

/** Matches that are walked over in one step. */
const STEP = 1000;

/**
 * One page of a connection, with the cursors of the others. https://hl7.org/fhir/R5/graphql.html#searching
 *
 * @param focus name of the resource that matches refer to; absent: on the system
 * @throws FhirError `page-invalid`, and as a search
 */
export async function readConnection(
  search: PlannedSearch,
  field: PlannedField,
  focus: string | undefined,
  reader: ResourceReader,
  execution: Execution,
): Promise<JsonObject> {
  const { services } = execution;
  const { type } = search;
  const opened =
    search.cursor === undefined ? begin(search, focus, execution) : await open(search, search.cursor, execution);
  const { params, place } = opened;
  const { began, offset, size, fhirpath } = place;
  const request = params === search.params ? search.request : readRequest(type, params, began, services);
  const asked = { type, request, now: began };
  const wants = new Set(field.fieldsOn(`${type}Connection`).map(({ name }) => name));
  const total = wants.has('count') || wants.has('last') ? 'accurate' : 'none';
  const after = place.after ?? (offset > 0 ? await walkTo(asked, offset, execution) : '');
  const isBeyond = after === undefined;
  const page = await onePage(
    asked,
    EVERYTHING,
    { count: isBeyond ? 0 : size, after: after === '' ? undefined : after, total: isBeyond ? 'accurate' : total },
    execution,
  );
  if (place.effect !== undefined && place.effect !== page.effect) {
    throw new FhirError('page-invalid', 'This cursor was made for scopes that show something else; search again');
  }
  const scores = request.scored === undefined ? undefined : await scoresOf(page.versions, request.scored, services);
  const edges: JsonObject[] = [];
  const pace = yieldToEventLoop();
  for (const [i, version] of page.versions.entries()) {
    await pace();
    const resource = await reader.take(version);
    if (fhirpath !== undefined && !execution.filters.holds(fhirpath, resource, type, offset + i, resource)) continue;
    const score = scores?.[i];
    edges.push({ mode: 'match', ...(score !== undefined && { score }), resource });
  }
  const query = new URLSearchParams(params.map(({ name, value }): [string, string] => [name, value])).toString();
  const { effect } = page;
  const cursor = (to: Pick<Place, 'offset' | 'trail' | 'after'>): Promise<string> =>
    services.pages.seal(binding(type), { query, after: JSON.stringify({ ...place, after: undefined, effect, ...to }) });
  const trail = [...place.trail, after ?? ''].slice(-TRAIL);
  const isPaged = size > 0;
  const lastOffset = page.total === undefined || !isPaged ? 0 : Math.max(0, Math.ceil(page.total / size) - 1) * size;
  const before = place.trail.at(-1);
  return {
    // How many of them FHIRPath keeps is not known.
    ...(page.total !== undefined && fhirpath === undefined && { count: page.total }),
    ...{ offset, pagesize: size, pageSize: size, edges },
    ...(isPaged && wants.has('first') && { first: await cursor({ offset: 0, trail: [] }) }),
    ...(isPaged &&
      wants.has('previous') &&
      offset > 0 && {
        previous: await cursor({
          offset: Math.max(0, offset - size),
          trail: place.trail.slice(0, -1),
          ...(before !== undefined && before !== '' && { after: before }),
        }),
      }),
    ...(isPaged &&
      wants.has('next') &&
      page.next !== undefined && {
        next: await cursor({ offset: offset + size, trail, after: page.next }),
      }),
    // To get there all before it is walked over.
    ...(isPaged &&
      wants.has('last') &&
      lastOffset <= QUERY_LIMITS.resources && {
        last: await cursor({ offset: lastOffset, trail: [] }),
      }),
  };
}

interface Opened {
  readonly params: PlannedSearch['params'];
  readonly place: Place;
}

function begin(search: PlannedSearch, focus: string | undefined, { services }: Execution): Opened {
  const { count = services.search.count, offset, now, by, fhirpath } = search;
  const size = Math.min(count, services.search.maxCount);
  const params = focus === undefined || by === undefined ? search.params : [...search.params, sent(by.code, focus)];
  return { params, place: { began: now, offset, size, trail: [], ...(fhirpath !== undefined && { fhirpath }) } };
}

async function open({ type }: PlannedSearch, token: string, { services }: Execution): Promise<Opened> {
  const { query, after } = await services.pages.open(binding(type), token);
  return {
    params: [...new URLSearchParams(query)].map(([name, value]) => sent(name, value)),
    place: JSON.parse(after) as Place,
  };
}

/** The store's cursor behind so many matches; undefined: there are no more than these. */
async function walkTo(
  asked: Pick<PlannedSearch, 'type' | 'request' | 'now'>,
  offset: number,
  execution: Execution,
): Promise<string | undefined> {
  let after: string | undefined;
  for (let left = offset; left > 0;) {
    const count = Math.min(left, STEP);
    const page = await onePage(asked, EVERYTHING, { count, after, total: 'none' }, execution);
    if (page.next === undefined) return undefined;
    after = page.next;
    left -= count;
  }
  return after;
}

/** A cursor is valid for the connections of its type. */
function binding(type: string): PageBinding {
  return { interaction: 'operation', type, member: 'graphql' };
}
