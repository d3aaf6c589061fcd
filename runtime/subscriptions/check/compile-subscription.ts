import { SUBSCRIPTION } from '../../core/write/content-to-store.js';
import type { Issue } from '../../fhir/errors.js';
import type { Resource } from '../../fhir/resource.js';
import { Faults, textOf } from '../faults.js';
import type { SubscriptionPlan, SubscriptionPorts, TopicPlan } from '../plan.js';
import { refuseModifiers } from '../topic/compile-topic.js';
import type { CompileServices } from '../topic/read-criteria.js';
import { readChannel } from './channel.js';
import { compileFilterBy } from './filter-by.js';

/** Result of compiling a Subscription. */
export interface CompiledSubscription {
  /** Absent: it has faults. */
  readonly plan?: SubscriptionPlan;
  readonly faults: readonly Issue[];
}

/**
 * Checks a whole Subscription and compiles it. https://hl7.org/fhir/R5/subscription.html
 *
 * @param topic what its topic was resolved to; undefined: there is no usable one
 * @param now milliseconds since the epoch; absent: `end` may be past, as of a Subscription that is stored
 */
export function compileSubscription(
  subscription: Resource,
  topic: TopicPlan | undefined,
  ports: Pick<SubscriptionPorts, 'hasWebsocket' | 'endpointFault'>,
  services: CompileServices,
  now = -Infinity,
): CompiledSubscription {
  const faults = new Faults(SUBSCRIPTION, 'subscription-refused');
  refuseModifiers(subscription, faults);
  if (topic === undefined) faults.add('topic', 'names no SubscriptionTopic of this server that is active or a draft');
  const channel = readChannel(subscription, now, faults, ports);
  const filters = topic === undefined ? [] : compileFilterBy(subscription, topic, faults, services);
  if (topic === undefined || faults.issues.length > 0) return { faults: faults.issues };
  return { faults: [], plan: { id: textOf(subscription['id']) ?? '', topic, filters, ...channel } };
}
