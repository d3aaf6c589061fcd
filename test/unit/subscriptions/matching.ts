import { OWN } from '../../toy/own.js';
import { tables } from '../../../generated/tables.js';
import { SERVER, type Principal } from '../../../runtime/auth/scopes/principal.js';
import type { Services } from '../../../runtime/core/services.js';
import type { Resource } from '../../../runtime/fhir/resource.js';
import { createServices } from '../../../runtime/http/create-services.js';
import { createExtractor } from '../../../runtime/indexing/extract.js';
import type { Store, StoredVersion } from '../../../runtime/store/store.js';
import { compileSubscription } from '../../../runtime/subscriptions/check/compile-subscription.js';
import { matchVersion } from '../../../runtime/subscriptions/match/match-version.js';
import { indexSubscriptions } from '../../../runtime/subscriptions/match/subscription-index.js';
import type { OwnedSubscription, TopicPlan, TriggerInteraction } from '../../../runtime/subscriptions/plan.js';
import { compileTopic } from '../../../runtime/subscriptions/topic/compile-topic.js';
import { PORTS, subscription } from '../../http/subscriptions/samples.js';

/** Services over a store, with all types. */
export function servicesOn(store: Store): Services {
  return createServices({ tables, store, extract: createExtractor(tables, { own: OWN }) }).services;
}

/** @throws Error with the faults of a topic */
export function planOf(topic: Resource, services: Services): TopicPlan {
  const { plan, faults } = compileTopic({ ...topic, id: 't' }, services);
  if (plan === undefined) throw new Error(faults.map(({ text }) => text).join('\n'));
  return plan;
}

/** A Subscription to a topic. */
export function owned(
  topic: TopicPlan,
  services: Services,
  more: object = {},
  principal: Principal = SERVER,
): OwnedSubscription {
  const { plan, faults } = compileSubscription(subscription({ id: 's', ...more }), topic, PORTS, services);
  if (plan === undefined) throw new Error(faults.map(({ text }) => text).join('\n'));
  return { plan, principal };
}

const at = (resource: Resource | undefined, version: number): StoredVersion => ({
  ...{
    type: resource?.resourceType ?? 'Observation',
    id: 'f',
    version,
    lastUpdated: Date.parse('2026-01-01T00:00:00Z'),
  },
  ...(resource !== undefined && { json: JSON.stringify({ ...resource, id: 'f' }) }),
});

/** The change between two contents. */
export function changeOf(before: Resource | undefined, after: Resource | undefined) {
  const interaction: TriggerInteraction = before === undefined ? 'create' : after === undefined ? 'delete' : 'update';
  const version = { ...at(after, 2), type: (after ?? before)!.resourceType };
  return { interaction, version, before: before && at(before, 1) };
}

/** Which of some Subscriptions get an event. */
export async function matched<T extends OwnedSubscription>(
  all: readonly T[],
  before: Resource | undefined,
  after: Resource | undefined,
  services: Services,
): Promise<readonly T[]> {
  return (await matchVersion(changeOf(before, after), indexSubscriptions(all), services)).matched;
}
