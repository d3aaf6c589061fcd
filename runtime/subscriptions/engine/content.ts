import { narrowIncludes } from '../../auth/access/narrow-includes.js';
import type { Principal } from '../../auth/scopes/principal.js';
import { isShown, isVisible } from '../../core/access/visibility.js';
import { readStored } from '../../core/read-stored.js';
import type { Services } from '../../core/services.js';
import type { Resource } from '../../fhir/resource.js';
import type { StoredVersion } from '../../store/store.js';
import type { NotificationEvent, NotificationInput, SubscriptionPlan } from '../plan.js';
import type { SubscriptionEvent } from './rows.js';

/** Characters that one notification has, and that are read for it, at most; one event alone may have more. */
const MOST_TEXT = 10 * 1024 * 1024;

/** Characters of an event without its resources, and of each reference in it, about. */
const FRAME = 300;

/** Included resources in one notification. */
const MOST_INCLUDED = 1000;

/** Contents of the events of a notification. */
export type EventContents = Required<Pick<NotificationInput, 'events' | 'included'>>;

/** Who is shown what. */
export interface ContentRequest {
  readonly plan: Pick<SubscriptionPlan, 'topic' | 'level'>;
  /** What it may read is shown; undefined: nothing is. */
  readonly principal: Principal;
  readonly signal: AbortSignal;
}

/**
 * The contents of events, as many as fit into one notification, and at least one: the versions that made them, and what the topic includes.
 * What may not be read is withheld: the event keeps number and time. A second deletion of a resource does not fit: its entry would be equal to
 * that of the first, which rule bdl-7 forbids. https://hl7.org/fhir/R5/bundle.html#invs
 */
export async function readContents(
  events: readonly SubscriptionEvent[],
  { plan, principal, signal }: ContentRequest,
  services: Services,
): Promise<EventContents> {
  const looking = { principal, signal };
  const contents: NotificationEvent[] = [];
  const included = new Map<string, Resource>();
  const deleted = new Set<string>();
  let size = 0;
  for (const { number, updated, type, id, version, interaction } of events) {
    signal.throwIfAborted();
    if (plan.level === 'empty') {
      contents.push({ number, updated });
      continue;
    }
    const stored = await services.store.readVersion(type, id, version);
    if (stored === undefined || !(await isVisible(stored, 'rs', looking, services))) {
      contents.push({ number, updated });
      continue;
    }
    const isFull = plan.level === 'full-resource';
    if (isFull && interaction === 'delete') {
      const name = `${type}/${id}`;
      if (deleted.has(name)) break;
      deleted.add(name);
    }
    const context = await readIncludes(stored, plan, looking, services);
    // What is read counts, also where ids alone are sent.
    const read = context.reduce(
      (sum, each) => sum + FRAME + (each.json?.length ?? 0),
      FRAME + (stored.json?.length ?? 0),
    );
    if (contents.length > 0 && size + read > MOST_TEXT) break;
    let room = MOST_TEXT - size - FRAME * (context.length + 1) - (stored.json?.length ?? 0);
    size += read;
    const resource = isFull && stored.json !== undefined ? await readStored(stored.json, services) : undefined;
    for (const each of isFull ? context : []) {
      const name = `${each.type}/${each.id}`;
      if (included.size === MOST_INCLUDED || included.has(name) || each.json === undefined) continue;
      room -= each.json.length;
      if (room >= 0) included.set(name, await readStored(each.json, services));
    }
    contents.push({
      number,
      updated,
      focus: {
        ...{ type, id, interaction },
        ...(resource !== undefined && { resource }),
        ...(context.length > 0 && { context: context.map((each) => ({ type: each.type, id: each.id })) }),
      },
    });
  }
  return { events: contents, included: [...included.values()] };
}

/** What comes along with a focus: current versions that the owner may see now. Nothing comes with what is deleted. */
async function readIncludes(
  { type, id, json }: StoredVersion,
  { topic }: Pick<SubscriptionPlan, 'topic'>,
  looking: Pick<ContentRequest, 'principal' | 'signal'>,
  services: Services,
): Promise<readonly StoredVersion[]> {
  if (json === undefined) return [];
  const all = topic.shapes.filter(({ types }) => types.has(type)).flatMap(({ includes }) => includes);
  if (all.length === 0) return [];
  const { tables, search, store } = services;
  const directives = narrowIncludes(all, looking.principal.access, tables.resourceTypes);
  if (directives.length === 0) return [];
  const include = { directives, most: MOST_INCLUDED, rounds: search.includeRounds };
  const query = { type, where: { ids: [id] }, sort: [], count: 1, total: 'none', include } as const;
  const { versions, included = [] } = await store.find(query, looking.signal);
  // They are found by the references of the current version, which may be hidden where that of the event is not.
  const [current] = versions;
  if (current === undefined || !(await isVisible(current, 'rs', looking, services))) return [];
  const shown: StoredVersion[] = [];
  for (const version of included) if (await isShown(version, looking, services)) shown.push(version);
  return shown;
}
