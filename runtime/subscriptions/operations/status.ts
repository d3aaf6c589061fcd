import { randomUUID } from 'node:crypto';

import { withinReach } from '../../auth/scopes/reach.js';
import { checkConstraintIndexes, recordConstraints } from '../../core/access/constraint-index-status.js';
import type { Call, Reply } from '../../core/call.js';
import { findAll } from '../../core/search-services/find-all.js';
import { readStored } from '../../core/read-stored.js';
import type { Services } from '../../core/services.js';
import { FhirError } from '../../fhir/errors.js';
import type { JsonObject, Resource } from '../../fhir/resource.js';
import { SubscriptionRows } from '../engine/rows.js';
import { SUBSCRIPTION } from '../../core/write/content-to-store.js';
import type { SubscriptionState } from '../engine/write-status.js';
import { subscriptionStatus } from '../notify/notification-bundle.js';
import { readArguments, valuesOf, type Arguments } from '../../operations/common/arguments.js';
import { readNamed } from '../../operations/common/read-argument.js';

/** https://hl7.org/fhir/R5/valueset-subscription-status.html */
const STATES: ReadonlySet<string> = new Set(['requested', 'active', 'error', 'off', 'entered-in-error']);

/** Subscriptions of one answer. */
const MOST = 1000;

/** Several ids or codes may be given in one value, and at an instance both say nothing. */
const PARAMETERS = ['id', 'status'].map((name) => ({ name, use: 'in', min: 0, max: '*', type: 'string' }) as const);

/**
 * `[base]/Subscription/[id]/$status` and `[base]/Subscription/$status`: the state of Subscriptions, how many events there were, and what
 * deliveries failed with. https://hl7.org/fhir/R5/subscription-operation-status.html
 *
 * @throws FhirError `parameter-invalid` for a state that is none
 */
export async function subscriptionsStatus(call: Call, services: Services): Promise<Reply> {
  const found = readArguments(call, services, PARAMETERS);
  const subscriptions =
    call.id === undefined ? await selectSubscriptions(found, call, services) : [await readOne(call.id, call, services)];
  const entry = await Promise.all(
    subscriptions.map(async (subscription): Promise<JsonObject> => ({
      fullUrl: `urn:uuid:${randomUUID()}`,
      resource: await statusOf(subscription, call, services),
      search: { mode: 'match' },
    })),
  );
  const path = call.id === undefined ? SUBSCRIPTION : `${SUBSCRIPTION}/${call.id}`;
  return {
    status: 200,
    resource: {
      resourceType: 'Bundle',
      type: 'searchset',
      total: entry.length,
      link: [{ relation: 'self', url: `${call.base}/${path}/$status` }],
      ...(entry.length > 0 && { entry }),
    },
  };
}

/** Reads the Subscription as a request of its own would. @throws FhirError `not-found`, `deleted` */
export async function readOne(id: string, call: Call, services: Services): Promise<Resource> {
  return (await readNamed({ type: SUBSCRIPTION, id }, call, services)).resource;
}

/** The Subscriptions that the caller may see, of some ids and states. @throws FhirError `parameter-invalid`, `too-costly` */
export async function selectSubscriptions(
  found: Arguments,
  call: Call,
  services: Services,
): Promise<readonly Resource[]> {
  const listOf = (name: string): string[] => valuesOf(found, name).flatMap((text) => String(text).split(','));
  const [ids, states] = [listOf('id'), listOf('status')];
  const unknown = states.find((state) => !STATES.has(state));
  if (unknown !== undefined) {
    const text = `The parameter "status" is ${[...STATES].join(', ')}, not ${JSON.stringify(unknown.slice(0, 64))}`;
    throw new FhirError('parameter-invalid', text);
  }
  const recorded = recordConstraints(call.principal.access);
  const reach = recorded.on(SUBSCRIPTION, 'rs');
  await checkConstraintIndexes(recorded.constraints, services);
  const where = withinReach({ all: ids.length > 0 ? [{ ids: [...new Set(ids)] }] : [] }, reach);
  const query = { type: SUBSCRIPTION, where, sort: [], count: 100, total: 'none' } as const;
  const all: Resource[] = [];
  const find: Services['store']['find'] = (asked, signal) => services.store.find(asked, signal);
  for await (const { json } of findAll(query, find, call.signal)) {
    const resource = json === undefined ? undefined : await readStored(json, services);
    if (resource === undefined || (states.length > 0 && !states.includes(String(resource['status'])))) continue;
    if (all.length === MOST) throw new FhirError('too-costly', `More than ${MOST} Subscriptions; name them by id`);
    all.push(resource);
  }
  return all;
}

async function statusOf(subscription: Resource, { base }: Call, { store }: Services): Promise<Resource> {
  const id = String(subscription['id']);
  const rows = new SubscriptionRows(store.maps);
  const row = await rows.row(id);
  const sent = row === undefined ? undefined : (await rows.sent(id, row)).value;
  const status = subscription['status'] as SubscriptionState;
  return subscriptionStatus({
    type: 'query-status',
    base,
    subscription: { id, status },
    topic: String(subscription['topic']),
    level: 'id-only',
    eventsSinceStart: row?.number ?? 0,
    // A delivery that succeeds forgets them.
    errors: sent?.errors ?? [],
    now: Date.now(),
  });
}
