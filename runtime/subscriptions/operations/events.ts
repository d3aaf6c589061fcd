import type { Call, Reply } from '../../core/call.js';
import { writeLink } from '../../search-execution/pages/page-walk.js';
import { readStored } from '../../core/read-stored.js';
import type { Services } from '../../core/services.js';
import { FhirError } from '../../fhir/errors.js';
import type { JsonObject, Resource } from '../../fhir/resource.js';
import { readContents } from '../engine/content.js';
import { SubscriptionRows, type SubscriptionRow } from '../engine/rows.js';
import type { SubscriptionState } from '../engine/write-status.js';
import { SUBSCRIPTION_TOPIC } from '../topic/compile-topic.js';
import { notificationBundle } from '../notify/notification-bundle.js';
import type { PayloadLevel, TopicPlan } from '../plan.js';
import { compileTopic } from '../topic/compile-topic.js';
import { readArguments, valueOf, type Arguments } from '../../operations/common/arguments.js';
import { readOne } from './status.js';

/** Events of one answer. */
const MOST: Readonly<Record<PayloadLevel, number>> = { empty: 1000, 'id-only': 1000, 'full-resource': 100 };

/** Numbers come as texts in JSON, and as they are in a URL. */
const NUMBERS = ['eventsSinceNumber', 'eventsUntilNumber'];
const PARAMETERS = NUMBERS.map((name) => ({ name, use: 'in', min: 0, max: 1, type: 'string', allowedTypes: ['string', 'integer64'] }) as const); // prettier-ignore

/**
 * `[base]/Subscription/[id]/$events`: events of a Subscription by their numbers, as they were or will be delivered, as far as the caller may
 * read what they are about. https://hl7.org/fhir/R5/subscription-operation-events.html
 *
 * @throws FhirError `parameter-invalid`
 */
export async function subscriptionEvents(call: Call, services: Services): Promise<Reply> {
  const found = readArguments(call, services, PARAMETERS);
  const id = call.id!;
  const subscription = await readOne(id, call, services);
  const [since, until] = readRange(found);
  const level = readLevel(found, subscription);
  const rows = new SubscriptionRows(services.store.maps);
  const row = await rows.row(id);
  const read = row === undefined ? [] : await rows.events(id, row, since - 1, MOST[level] + 1);
  const all = read.filter(({ number }) => number <= until);
  const signal = call.signal ?? new AbortController().signal;
  const topic = row === undefined ? undefined : await topicOf(row, services);
  const plan = { topic: topic ?? NO_TOPIC, level };
  const request = { plan, principal: call.principal, signal };
  const contents = await readContents(all.slice(0, MOST[level]), request, services);
  const last = contents.events.at(-1)?.number;
  const bundle = notificationBundle({
    type: contents.events.length > 0 ? 'query-event' : 'query-status',
    base: call.base,
    subscription: { id, status: subscription['status'] as SubscriptionState },
    topic: String(subscription['topic']),
    level,
    eventsSinceStart: row?.number ?? 0,
    ...contents,
    now: Date.now(),
  });
  const isMore = last !== undefined && last < until && last < (row?.number ?? 0);
  const next = isMore ? linkOf(call, last + 1, found) : undefined;
  const first = read[0]?.number;
  const isCut = row !== undefined && since <= row.number && first !== undefined && first > since;
  const { entry, ...head } = bundle;
  return {
    status: 200,
    resource: {
      ...head,
      ...(next !== undefined && { link: [{ relation: 'next', url: next }] }),
      ...(entry !== undefined && { entry }),
      ...(isCut && { issues: trimmed(first) }),
    },
  };
}

const NO_TOPIC: Pick<TopicPlan, 'shapes'> & TopicPlan = {
  id: '',
  url: '',
  canonical: '',
  triggers: [],
  filters: [],
  shapes: [],
};

function readRange(found: Arguments): [since: number, until: number] {
  const [since, until] = NUMBERS.map((name) => {
    const value = valueOf(found, name);
    if (value === undefined) return undefined;
    const text = String(value);
    if (!/^\d{1,15}$/.test(text))
      throw new FhirError('parameter-invalid', `The parameter "${name}" is a number from 0`);
    return Number(text);
  });
  if (since !== undefined && until !== undefined && since > until) {
    throw new FhirError('parameter-invalid', 'eventsSinceNumber is greater than eventsUntilNumber');
  }
  return [Math.max(1, since ?? 1), until ?? Infinity];
}

function readLevel(found: Arguments, subscription: Resource): PayloadLevel {
  const text = String(valueOf(found, 'content') ?? subscription['content'] ?? 'empty');
  if (Object.hasOwn(MOST, text)) return text as PayloadLevel;
  throw new FhirError('parameter-invalid', `The parameter "content" is ${Object.keys(MOST).join(', ')}`);
}

async function topicOf({ topic }: SubscriptionRow, services: Services): Promise<TopicPlan | undefined> {
  const stored = topic && (await services.store.readVersion(SUBSCRIPTION_TOPIC, topic.id, topic.version));
  return stored?.json === undefined ? undefined : compileTopic(await readStored(stored.json, services), services).plan;
}

function linkOf(call: Call, since: number, found: Arguments): string {
  const kept = ['eventsUntilNumber', 'content'].flatMap((name) => {
    const value = valueOf(found, name);
    return value === undefined ? [] : [[name, String(value)] as const];
  });
  return writeLink(call, `Subscription/${call.id}/$events`, [['eventsSinceNumber', String(since)], ...kept]);
}

function trimmed(first: number): JsonObject {
  const text = `Earlier events are not kept any more: they begin with number ${first}`;
  return {
    resourceType: 'OperationOutcome',
    issue: [{ severity: 'warning', code: 'expired', details: { text } }],
  };
}
