import type { Issue } from '../../fhir/errors.js';
import type { Resource } from '../../fhir/resource.js';
import { Faults, objectsOf, textOf } from '../faults.js';
import type { TopicPlan } from '../plan.js';
import { compileFilters } from './filters.js';
import { compileShapes } from './shapes.js';
import { compileTriggers, type TriggerServices } from './triggers.js';

/** The type whose resources say which events there are. https://hl7.org/fhir/R5/subscriptiontopic.html */
export const SUBSCRIPTION_TOPIC = 'SubscriptionTopic';

/** Statuses in which a topic is checked and takes new Subscriptions; registries publish drafts. */
const USABLE: ReadonlySet<unknown> = new Set(['draft', 'active']);

/** Whether a topic is to be evaluated at all. */
export function isUsable(topic: Resource): boolean {
  return USABLE.has(topic['status']);
}

/** Result of compiling a topic. */
export interface CompiledTopic {
  /** Absent: it has faults. What is wrong with optional parts is left out of it. */
  readonly plan?: TopicPlan;
  /** All that keeps it from being evaluated as it is meant, one for each element. */
  readonly faults: readonly Issue[];
  /** Includes and filters that the server does not know: a topic can do without. */
  readonly optional: readonly Issue[];
}

/** Checks a whole topic and compiles it. Accepted means that it fires. https://hl7.org/fhir/R5/subscriptiontopic.html */
export function compileTopic(topic: Resource, services: TriggerServices): CompiledTopic {
  const faults = new Faults(SUBSCRIPTION_TOPIC, 'topic-refused');
  const optional = new Faults(SUBSCRIPTION_TOPIC, 'topic-refused');
  for (const i of objectsOf(topic['eventTrigger']).keys()) {
    faults.add(`eventTrigger[${i}]`, 'has no source of events here: use resourceTrigger', 'not-supported');
  }
  refuseModifiers(topic, faults);
  const triggers = compileTriggers(topic, faults, services);
  const filters = compileFilters(topic, triggers, optional, services);
  const shapes = compileShapes(topic, faults, optional, services);
  const url = textOf(topic['url']) ?? '';
  if (url === '' || url.includes('|')) faults.add('url', 'is what Subscription.topic names: without |');
  const version = textOf(topic['version']);
  const result = { faults: faults.issues, optional: optional.issues };
  if (faults.issues.length > 0) return result;
  const canonical = version === undefined ? url : `${url}|${version}`;
  const id = textOf(topic['id']) ?? '';
  return {
    ...result,
    plan: { id, url, ...(version !== undefined && { version }), canonical, triggers, filters, shapes },
  };
}

/** A modifierExtension would change what an element means. https://hl7.org/fhir/R5/extensibility.html#modifierExtension */
export function refuseModifiers(resource: Resource, faults: Faults): void {
  const walk = (value: unknown, path: string): void => {
    if (typeof value !== 'object' || value === null) return;
    if (Array.isArray(value)) return value.forEach((each, i) => walk(each, `${path}[${i}]`));
    for (const [name, each] of Object.entries(value)) {
      if (name === 'contained' || name === 'text') continue;
      const inner = path === '' ? name : `${path}.${name}`;
      if (name === 'modifierExtension') faults.add(inner, 'is not understood: leave it out', 'not-supported');
      else walk(each, inner);
    }
  };
  walk(resource, '');
}
