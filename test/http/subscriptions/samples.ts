import { createSubscriptionChecks } from '../../../runtime/subscriptions/check/create-subscription-checks.js';
import type { SubscriptionPorts } from '../../../runtime/subscriptions/plan.js';
import type { Resource } from '../../../runtime/fhir/resource.js';

/** The URL of a topic of these tests. */
export const TOPIC = 'http://example.org/topics/final';

/** A topic that fires for final Observations. */
export const topic = (more: object = {}): Resource => ({
  resourceType: 'SubscriptionTopic',
  url: TOPIC,
  status: 'active',
  resourceTrigger: [{ resource: 'Observation', queryCriteria: { current: 'status=final' } }],
  ...more,
});

/** A topic with one trigger. */
export const triggered = (trigger: object): Resource =>
  topic({ resourceTrigger: [{ resource: 'Observation', ...trigger }] });

/** A Subscription to that topic. */
export const subscription = (more: object = {}): Resource => ({
  resourceType: 'Subscription',
  status: 'requested',
  topic: TOPIC,
  channelType: { code: 'rest-hook' },
  endpoint: 'https://receiver.example.org/hook',
  content: 'id-only',
  ...more,
});

/** What checks ask of an engine: without Subscriptions, and with every https endpoint. */
export const PORTS: SubscriptionPorts = {
  hasWebsocket: false,
  perClient: 100,
  endpointFault: (url) => (url.startsWith('https://') ? undefined : 'is no https URL'),
  takePlace: () => Promise.resolve(true),
  liveOn: () => Promise.resolve([]),
};

/** The checks of a server with such an engine. */
export const checksWith = (more: Partial<SubscriptionPorts> = {}) => createSubscriptionChecks({ ...PORTS, ...more });
