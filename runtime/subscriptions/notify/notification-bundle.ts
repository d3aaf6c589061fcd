import { randomUUID } from 'node:crypto';

import { isObject, type JsonObject, type Resource } from '../../fhir/resource.js';
import type { NotificationEvent, NotificationInput, TriggerInteraction } from '../plan.js';

/** https://terminology.hl7.org/CodeSystem-subscription-error.html */
const ERRORS = 'http://terminology.hl7.org/CodeSystem/subscription-error';

const METHODS: Readonly<Record<TriggerInteraction, string>> = { create: 'POST', update: 'PUT', delete: 'DELETE' };

/**
 * The Bundle of a notification, or the answer of `$events`: its status, and by the payload level what happened and to what. Of a single
 * status, `$status` makes a searchset itself. https://hl7.org/fhir/R5/subscriptions.html#payloads
 */
export function notificationBundle(input: NotificationInput): Resource {
  const { base, level, now, events = [], included = [] } = input;
  const status: JsonObject = { fullUrl: `urn:uuid:${randomUUID()}`, resource: subscriptionStatus(input) };
  const foci: readonly JsonObject[] =
    level === 'full-resource' ? events.flatMap((event) => focusEntry(event, base)) : [];
  const others: readonly JsonObject[] =
    level === 'full-resource' ? included.map((resource) => includedEntry(resource, base)) : [];
  return {
    resourceType: 'Bundle',
    id: randomUUID(),
    type: 'subscription-notification',
    timestamp: new Date(now).toISOString(),
    entry: [status, ...foci, ...withoutThoseOf(foci, others)],
  };
}

/** Included entries but for the versions that events have: rule bdl-7 allows each once. https://hl7.org/fhir/R5/bundle.html#invs */
function withoutThoseOf(foci: readonly JsonObject[], included: readonly JsonObject[]): readonly JsonObject[] {
  const keyOf = ({ fullUrl, resource }: JsonObject): string => {
    const meta = isObject(resource) && isObject(resource['meta']) ? resource['meta'] : {};
    return `${String(fullUrl)} ${String(meta['versionId'] ?? '')}`;
  };
  const known = new Set(foci.map(keyOf));
  return included.filter((entry) => !known.has(keyOf(entry)));
}

/** The state of a Subscription with events. https://hl7.org/fhir/R5/subscriptionstatus.html */
export function subscriptionStatus(input: NotificationInput): Resource {
  const { type, base, subscription, topic, level, eventsSinceStart, events = [], errors = [] } = input;
  const isEmpty = level === 'empty' && type !== 'query-status';
  return {
    resourceType: 'SubscriptionStatus',
    status: subscription.status,
    type,
    // An integer64 is a text in JSON.
    eventsSinceSubscriptionStart: String(eventsSinceStart),
    ...(events.length > 0 && { notificationEvent: events.map((event) => eventOf(event, base, isEmpty)) }),
    subscription: referenceTo('Subscription', subscription.id, base),
    ...(!isEmpty && { topic }),
    ...(errors.length > 0 && {
      error: errors.map(({ code, text }) => ({ coding: [{ system: ERRORS, code }], text })),
    }),
  };
}

function eventOf({ number, updated, focus }: NotificationEvent, base: string, isEmpty: boolean): JsonObject {
  const { context = [] } = focus ?? {};
  return {
    eventNumber: String(number),
    timestamp: new Date(updated).toISOString(),
    ...(focus !== undefined && !isEmpty && { focus: referenceTo(focus.type, focus.id, base) }),
    ...(context.length > 0 &&
      !isEmpty && { additionalContext: context.map(({ type, id }) => referenceTo(type, id, base)) }),
  };
}

/** The version of the event, as a request that would make it. */
function focusEntry({ focus }: NotificationEvent, base: string): readonly JsonObject[] {
  if (focus === undefined) return [];
  const { type, id, interaction, resource } = focus;
  const request = { method: METHODS[interaction], url: interaction === 'create' ? type : `${type}/${id}` };
  const fullUrl = `${base}/${type}/${id}`;
  if (interaction === 'delete') return [{ fullUrl, request }];
  // A version that is gone for good has no entry.
  return resource === undefined ? [] : [{ fullUrl, resource, request }];
}

/** A resource beside the foci, in the version that is current. */
function includedEntry(resource: Resource, base: string): JsonObject {
  const place = `${resource.resourceType}/${String(resource['id'])}`;
  return { fullUrl: `${base}/${place}`, resource, request: { method: 'PUT', url: place } };
}

function referenceTo(type: string, id: string, base: string): JsonObject {
  return { reference: `${base}/${type}/${id}`, type };
}
