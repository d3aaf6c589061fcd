import { describe, expect, it } from 'vitest';

import { tables } from '../../../generated/tables.js';
import type { Resource } from '../../../runtime/fhir/resource.js';
import { readXml } from '../../../runtime/format/xml/read-xml.js';
import { writeXml } from '../../../runtime/format/xml/write-xml.js';
import { createValidator } from '../../../runtime/validate/create-validator.js';
import { createRuleChecker } from '../../../runtime/validate/rules/create-rule-checker.js';
import { notificationBundle } from '../../../runtime/subscriptions/notify/notification-bundle.js';
import type { NotificationEvent, NotificationInput, PayloadLevel } from '../../../runtime/subscriptions/plan.js';

const validate = createValidator(tables);
const rules = createRuleChecker(tables);
const BASE = 'https://here.example/fhir';

const patient = (version: number): Resource => ({
  resourceType: 'Patient',
  id: 'p',
  meta: { versionId: String(version), lastUpdated: '2026-01-01T00:00:00Z' },
});
const organization: Resource = { resourceType: 'Organization', id: 'o', meta: { versionId: '7' }, name: 'x' };

const event = (number: number, focus: NotificationEvent['focus']): NotificationEvent => ({
  ...{ number, updated: Date.parse('2026-01-01T00:00:00Z') },
  ...(focus !== undefined && { focus }),
});
const EVENTS: readonly NotificationEvent[] = [
  event(1, { type: 'Patient', id: 'p', interaction: 'create', resource: patient(1) }),
  event(2, { type: 'Patient', id: 'p', interaction: 'update', resource: patient(2), context: [{ type: 'Organization', id: 'o' }] }), // prettier-ignore
  event(3, { type: 'Patient', id: 'p', interaction: 'delete' }),
  event(4, { type: 'Patient', id: 'q', interaction: 'delete' }),
  event(5, undefined),
];

const input = (type: NotificationInput['type'], level: PayloadLevel, more: Partial<NotificationInput> = {}) => ({
  ...{ type, level, base: BASE, topic: 'http://example.org/t|1', eventsSinceStart: 5, now: 0 },
  subscription: { id: 's', status: 'active' } as const,
  ...more,
});

/** Profile subscription-notification-bundle, what validation by tables alone does not know. */
function profileFaults(bundle: Resource): string[] {
  const entries = bundle['entry'] as { fullUrl?: string; resource?: Resource; search?: unknown; response?: unknown }[];
  const [first] = entries;
  return [
    ...(bundle['type'] === 'subscription-notification' ? [] : ['type']),
    ...(bundle['total'] === undefined ? [] : ['total']),
    ...(first?.resource?.resourceType === 'SubscriptionStatus' ? [] : ['first']),
    ...entries.flatMap(({ fullUrl, search, response }, i) =>
      fullUrl === undefined || search !== undefined || response !== undefined ? [`entry[${i}]`] : [],
    ),
  ];
}

const TYPES = ['handshake', 'heartbeat', 'event-notification', 'query-status', 'query-event'] as const;
const LEVELS = ['empty', 'id-only', 'full-resource'] as const;

/** https://hl7.org/fhir/R5/subscriptions.html#payloads */
describe.each(LEVELS)('a notification with content %s', (level) => {
  it.each(TYPES)('%s is valid, in JSON and in XML', (type) => {
    const hasEvents = type === 'event-notification' || type === 'query-event';
    const bundle = notificationBundle(
      input(type, level, hasEvents ? { events: EVENTS, included: [organization] } : {}),
    );
    expect(validate(bundle)).toEqual([]);
    expect(rules.errors(bundle)).toEqual([]);
    expect(profileFaults(bundle)).toEqual([]);
    expect(readXml(Buffer.from(writeXml(bundle, tables)), tables)).toEqual(bundle);
  });
});

describe('the status', () => {
  const statusOf = (of: NotificationInput): Resource =>
    (notificationBundle(of)['entry'] as { resource: Resource }[])[0]!.resource;

  it('has numbers as texts, and says of what it is', () => {
    expect(statusOf(input('event-notification', 'id-only', { events: EVENTS.slice(0, 2) }))).toMatchObject({
      status: 'active',
      type: 'event-notification',
      eventsSinceSubscriptionStart: '5',
      subscription: { reference: `${BASE}/Subscription/s` },
      topic: 'http://example.org/t|1',
      notificationEvent: [
        { eventNumber: '1', timestamp: '2026-01-01T00:00:00.000Z', focus: { reference: `${BASE}/Patient/p`, type: 'Patient' } }, // prettier-ignore
        { eventNumber: '2', additionalContext: [{ reference: `${BASE}/Organization/o`, type: 'Organization' }] },
      ],
    });
  });

  it('of an empty one tells neither topic nor foci', () => {
    const bundle = notificationBundle(
      input('event-notification', 'empty', { events: EVENTS, included: [organization] }),
    );
    expect(bundle['entry']).toHaveLength(1);
    expect(JSON.stringify(bundle)).not.toMatch(/Patient|Organization|example.org/);
  });

  it('of a query has the errors', () => {
    const errors = [{ code: 'no-response', text: 'answered 503' }];
    expect(statusOf(input('query-status', 'empty', { errors }))['error']).toEqual([
      { coding: [{ system: 'http://terminology.hl7.org/CodeSystem/subscription-error', code: 'no-response' }], text: 'answered 503' }, // prettier-ignore
    ]);
  });
});

it('full resources come in the version of the event, with the request that makes it; a deletion has none', () => {
  const { entry } = notificationBundle(input('event-notification', 'full-resource', { events: EVENTS, included: [organization] })); // prettier-ignore
  expect(entry as object[]).toHaveLength(6);
  expect((entry as object[]).slice(1)).toEqual([
    { fullUrl: `${BASE}/Patient/p`, resource: patient(1), request: { method: 'POST', url: 'Patient' } },
    { fullUrl: `${BASE}/Patient/p`, resource: patient(2), request: { method: 'PUT', url: 'Patient/p' } },
    { fullUrl: `${BASE}/Patient/p`, request: { method: 'DELETE', url: 'Patient/p' } },
    { fullUrl: `${BASE}/Patient/q`, request: { method: 'DELETE', url: 'Patient/q' } },
    { fullUrl: `${BASE}/Organization/o`, resource: organization, request: { method: 'PUT', url: 'Organization/o' } },
  ]);
});

it('a version that is included too keeps the entry of its event', () => {
  const included = [patient(1), organization];
  const { entry } = notificationBundle(input('event-notification', 'full-resource', { events: EVENTS.slice(0, 1), included })); // prettier-ignore
  expect((entry as { request?: object }[]).slice(1).map(({ request }) => request)).toEqual([
    { method: 'POST', url: 'Patient' },
    { method: 'PUT', url: 'Organization/o' },
  ]);
});

it('ids alone have no other entries', () => {
  expect(notificationBundle(input('event-notification', 'id-only', { events: EVENTS }))['entry']).toHaveLength(1);
});
