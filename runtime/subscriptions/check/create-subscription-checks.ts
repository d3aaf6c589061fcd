import { scopeMissing } from '../../auth/access/refuse.js';
import { OPEN_ACCESS } from '../../auth/scopes/principal.js';
import type { CheckedCall, CheckedWrite, Services, SubscriptionChecks } from '../../core/services.js';
import { SUBSCRIPTION } from '../../core/write/content-to-store.js';
import { refuse } from '../../core/write/validate-resource.js';
import { FhirError } from '../../fhir/errors.js';
import type { Resource } from '../../fhir/resource.js';
import { Faults, textOf } from '../faults.js';
import type { SubscriptionPorts, TopicPlan } from '../plan.js';
import { compileTopic, isUsable, SUBSCRIPTION_TOPIC } from '../topic/compile-topic.js';
import { findTopic, splitCanonical } from '../topic/find-topic.js';
import { checkLookups, type PlacedCriteria } from './check-lookups.js';
import { compileSubscription } from './compile-subscription.js';
import { missingRights } from './needed-rights.js';
import { isLive, withClientStatus } from './status.js';

/** Makes the checks of writes for a server that delivers. */
export function createSubscriptionChecks(ports: SubscriptionPorts): SubscriptionChecks {
  return {
    types: new Set([SUBSCRIPTION, SUBSCRIPTION_TOPIC]),
    checkPut: (content, write, call, services) =>
      content.resourceType === SUBSCRIPTION
        ? checkSubscription(content, write, call, services, ports)
        : checkTopic(content, write, call, services, ports),
    async checkDelete(type, id) {
      const live = type === SUBSCRIPTION_TOPIC ? await ports.liveOn(id) : [];
      if (live.length > 0) throw inUse(live.length, 'would be gone');
    },
  };
}

/** What is off has no events, so that a client can always end its Subscription, whatever has become of its topic. */
async function checkSubscription(
  sent: Resource,
  { id, before, version }: CheckedWrite,
  { principal, signal }: CheckedCall,
  services: Services,
  ports: SubscriptionPorts,
): Promise<Resource> {
  const subscription = withClientStatus({ ...sent, id }, before);
  const status = subscription['status'];
  if (!isLive(subscription)) return sent;
  const wasLive = before !== undefined && isLive(before);
  // A retired topic takes no new Subscriptions, and live ones go on.
  const isAnyStatus = wasLive && before['topic'] === subscription['topic'];
  const topic = await findTopic(textOf(subscription['topic']) ?? '', isAnyStatus, services, signal);
  const plan = topic && compileTopic(topic, services).plan;
  const compiled = compileSubscription(subscription, plan, ports, services, Date.now());
  refuse(compiled.faults);
  const lookups = new Faults(SUBSCRIPTION, 'subscription-refused');
  const named = (compiled.plan?.filters ?? []).map((each) => [`filterBy[${each.index}].value`, each] as const);
  await checkLookups(named, principal.access, lookups, services, signal);
  refuse(lookups.issues);
  const { access, clientId } = principal;
  if (access !== OPEN_ACCESS && compiled.plan !== undefined) {
    const missing = missingRights(compiled.plan, access);
    if (missing !== undefined) throw scopeMissing(missing, access);
    if (!(await ports.takePlace({ clientId, id, version }))) {
      const text = `A client may have ${ports.perClient} live Subscriptions; switch one off, or delete it`;
      throw new FhirError('subscriptions-too-many', text);
    }
  }
  return status === sent['status'] ? sent : { ...sent, status: status! };
}

async function checkTopic(
  topic: Resource,
  { id }: CheckedWrite,
  { prefer, principal, signal }: CheckedCall,
  services: Services,
  ports: SubscriptionPorts,
): Promise<Resource> {
  const { plan, faults, optional } = compileTopic({ ...topic, id }, services);
  if (isUsable(topic)) {
    refuse(prefer?.handling === 'lenient' ? faults : [...faults, ...optional]);
    const lookups = new Faults(SUBSCRIPTION_TOPIC, 'topic-refused');
    // A refusal must not tell that the store has a value set that the client may not read.
    await checkLookups(criteriaIn(plan), principal.access, lookups, services, signal);
    refuse(lookups.issues);
  }
  const broken = await countBroken(id, plan, services, ports);
  if (broken > 0) throw inUse(broken, 'would change so that they are no longer valid');
  return topic;
}

/** The search criteria of a topic without faults, each with its element. */
function criteriaIn(plan: TopicPlan | undefined): readonly PlacedCriteria[] {
  return (plan?.triggers ?? []).flatMap(({ query }, i): PlacedCriteria[] => [
    [`resourceTrigger[${i}].queryCriteria.previous`, query?.previous],
    [`resourceTrigger[${i}].queryCriteria.current`, query?.current],
  ]);
}

/**
 * Counts the live Subscriptions of a topic that are not valid by another content of it.
 *
 * @param topic that content; undefined: the topic goes, or cannot be used
 */
export async function countBroken(
  id: string,
  topic: TopicPlan | undefined,
  services: Services,
  ports: Pick<SubscriptionPorts, 'liveOn' | 'hasWebsocket' | 'endpointFault'>,
): Promise<number> {
  const live = await ports.liveOn(id);
  return live.filter((each) => !suits(each, topic, services, ports)).length;
}

/** Whether a live Subscription is still valid by a topic. */
function suits(
  subscription: Resource,
  topic: TopicPlan | undefined,
  services: Services,
  ports: Pick<SubscriptionPorts, 'hasWebsocket' | 'endpointFault'>,
): boolean {
  if (topic === undefined) return false;
  const { url, version } = splitCanonical(textOf(subscription['topic']) ?? '');
  const isNamed = url === topic.url && (version === undefined || version === topic.version);
  return isNamed && compileSubscription(subscription, topic, ports, services).faults.length === 0;
}

function inUse(count: number, what: string): FhirError {
  const text = `${count} live Subscription${count === 1 ? ' needs' : 's need'} the topic, which ${what}: set their status to off first`;
  return new FhirError('topic-in-use', text);
}
