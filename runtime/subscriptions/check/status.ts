import { equalJson } from '../../fhir/equal.js';
import type { JsonValue, Resource } from '../../fhir/resource.js';

/** Statuses in which a Subscription has events, or will have. https://hl7.org/fhir/R5/valueset-subscription-status.html */
const LIVE: ReadonlySet<unknown> = new Set(['requested', 'active', 'error']);

/** Statuses that the server alone gives. */
const OF_THE_SERVER: ReadonlySet<unknown> = new Set(['active', 'error']);

/** Elements on which deliveries depend: where one changes, the endpoint is asked again by a handshake. */
const DECISIVE = ['endpoint', 'channelType', 'parameter', 'contentType', 'topic', 'filterBy', 'content'] as const;

/** Whether a Subscription has events, or will have after its handshake. */
export function isLive(subscription: Resource): boolean {
  return LIVE.has(subscription['status']);
}

/** Whether what deliveries depend on is alike in two versions. */
export function isSameDelivery(one: Resource, other: Resource): boolean {
  const of = (from: Resource, name: string): JsonValue => from[name] ?? null;
  return DECISIVE.every((name) => equalJson(of(one, name), of(other, name)));
}

/**
 * A Subscription as a client may write it: `active` and `error` are the server's. Clients send back what they read, so these stay where the
 * stored version has them and nothing changes that deliveries depend on; otherwise they mean `requested`.
 * https://hl7.org/fhir/R5/subscription-definitions.html#Subscription.status
 */
export function withClientStatus(sent: Resource, before: Resource | undefined): Resource {
  const { status } = sent;
  if (!OF_THE_SERVER.has(status)) return sent;
  const isKept = before !== undefined && before['status'] === status && isSameDelivery(sent, before);
  return isKept ? sent : { ...sent, status: 'requested' };
}
