import { beforeAll, describe, expect, it } from 'vitest';

import { OWN } from '../../toy/own.js';
import { tables } from '../../../generated/tables.js';
import { composePut } from '../../../runtime/core/write/compose-change.js';
import { createServices } from '../../../runtime/http/create-services.js';
import { createExtractor } from '../../../runtime/indexing/extract.js';
import type { Store } from '../../../runtime/store/store.js';
import { serveWith } from '../auth/support.js';
import { neededBy } from '../auth/scoped.js';
import { codeOf, type Answer } from '../server.js';
import { replacementParameters } from '../operations/replacement-support.js';
import { useBundleServer } from '../bundles/bundle-server.js';
import { checksWith, PORTS, subscription, topic, TOPIC } from './samples.js';

const header = (name: string, value = 'x') => ({ parameter: [{ name, value }] });
const filter = (more: object) => ({ filterBy: [{ filterParameter: 'code', value: 'x', ...more }] });

/** Why, what is other in the Subscription, the element below Subscription, a word of what would be right. */
const REFUSED: readonly (readonly [string, object, string, string])[] = [
  ['an unknown topic', { topic: 'http://example.org/none' }, 'topic', 'SubscriptionTopic'],
  ['an unknown version of a topic', { topic: `${TOPIC}|9` }, 'topic', 'SubscriptionTopic'],
  ['a retired topic', { topic: `${TOPIC}-retired` }, 'topic', 'active'],
  ['email', { channelType: { code: 'email' } }, 'channelType', 'rest-hook'],
  ['websocket where it is not offered', { channelType: { code: 'websocket' }, endpoint: undefined }, 'channelType', 'rest-hook'], // prettier-ignore
  ['a channel of another system', { channelType: { system: 'http://x.example', code: 'rest-hook' } }, 'channelType', 'subscription-channel-type'], // prettier-ignore
  ['no endpoint', { endpoint: undefined }, 'endpoint', 'https'],
  ['an endpoint that is not allowed', { endpoint: 'http://receiver.example.org' }, 'endpoint', 'https'],
  ['a header that is no token', header('a b'), 'parameter[0].name', 'letters'],
  ...['Host', 'content-length', 'Content-Type', 'Transfer-Encoding', 'connection', 'Upgrade', 'TE', 'Trailer', 'Expect', 'Keep-Alive', 'Proxy-Authorization'].map((name) => [`the header ${name}`, header(name), 'parameter[0].name', 'server'] as const), // prettier-ignore
  ['a header that is too large', header('X', 'x'.repeat(9000)), 'parameter', '8192'],
  ['heartbeats that are too frequent', { heartbeatPeriod: 4 }, 'heartbeatPeriod', 'from 5 to 86400'],
  ['heartbeats that are too rare', { heartbeatPeriod: 86401 }, 'heartbeatPeriod', 'from 5'],
  ['no timeout', { timeout: 0 }, 'timeout', 'from 1 to 60'],
  ['a long timeout', { timeout: 61 }, 'timeout', 'from 1 to 60'],
  ['another content type', { contentType: 'text/plain' }, 'contentType', 'application/fhir+json'],
  ['another version of FHIR', { contentType: 'application/fhir+json; fhirVersion=4.0' }, 'contentType', '5.0'],
  ['an end that is past', { end: '2020-01-01T00:00:00Z' }, 'end', 'ahead'],
  ['a modifier extension', { modifierExtension: [{ url: 'http://x.example', valueBoolean: true }] }, 'modifierExtension', 'leave it out'], // prettier-ignore
  ['a filter that the topic lacks', filter({ filterParameter: 'status' }), 'filterBy[0].filterParameter', 'code'],
  ['a filter of another type', filter({ resourceType: 'Patient' }), 'filterBy[0].resourceType', 'Observation'],
  ['a comparator that the topic lacks', filter({ filterParameter: 'date', comparator: 'lt', value: '2020' }), 'filterBy[0].comparator', 'eq, gt'], // prettier-ignore
  ['a prefix that the topic lacks', filter({ filterParameter: 'date', value: 'lt2020' }), 'filterBy[0].value', 'eq, gt'], // prettier-ignore
  ['a prefix beside a comparator', filter({ filterParameter: 'date', comparator: 'gt', value: 'gt2020' }), 'filterBy[0].value', 'one of both'], // prettier-ignore
  ['a modifier that the topic lacks', filter({ modifier: 'in' }), 'filterBy[0].modifier', 'not'],
  ['a comparator and a modifier', filter({ comparator: 'eq', modifier: 'not' }), 'filterBy[0].modifier', 'scr-1'],
  ['a value that is none', filter({ filterParameter: 'date', value: 'soon' }), 'filterBy[0].value', 'soon'],
];

const TAKEN: readonly (readonly [string, object])[] = [
  ['the least', { content: undefined }],
  ['a topic with its version', { topic: `${TOPIC}|2` }],
  ['the system of channels', { channelType: { system: 'http://terminology.hl7.org/CodeSystem/subscription-channel-type', code: 'rest-hook' } }], // prettier-ignore
  ['headers, names repeated', { parameter: [{ name: 'Authorization', value: 'Bearer x' }, { name: 'X-A', value: '1' }, { name: 'X-A', value: '2' }] }], // prettier-ignore
  ['XML of a version', { contentType: 'application/fhir+xml; fhirVersion=5.0' }],
  ['all numbers', { heartbeatPeriod: 5, timeout: 60, maxCount: 20, end: '2999-01-01T00:00:00Z' }],
  ['eq without being offered', filter({ filterParameter: 'date', comparator: 'eq', value: '2020' })],
  ['an offered prefix', filter({ filterParameter: 'date', value: 'gt2020' })],
  ['an offered comparator', filter({ filterParameter: 'date', comparator: 'gt', value: '2020' })],
  ['an offered modifier', filter({ modifier: 'not' })],
  ['a type by its URL', filter({ resourceType: 'http://hl7.org/fhir/StructureDefinition/Observation' })],
];

/** Writes of Subscriptions. https://hl7.org/fhir/R5/subscription.html */
export function subscriptions(store: Store): void {
  let isFull = false;
  let endpointFault = (): string | undefined => undefined;
  const faultOf = (url: string): string | undefined => endpointFault() ?? PORTS.endpointFault(url);
  const options = {
    subscriptions: checksWith({ endpointFault: faultOf, perClient: 2, takePlace: () => Promise.resolve(!isFull) }),
  };
  const server = useBundleServer(store, options);
  const guarded = serveWith(store, options);
  const create = (body: object) => server.send('POST', '/Subscription', body);
  const canFilterBy = [
    { filterParameter: 'code', modifier: ['not'] },
    { filterParameter: 'date', comparator: ['gt'] },
  ];
  beforeAll(async () => {
    const all = [
      topic({ version: '2', canFilterBy }),
      topic({ version: '10', canFilterBy }),
      topic({ url: `${TOPIC}-retired`, status: 'retired' }),
      topic({ url: `${TOPIC}-chain`, resourceTrigger: [{ resource: 'Observation', queryCriteria: { current: 'subject:Patient.name=x' } }] }), // prettier-ignore
      topic({ url: `${TOPIC}-all`, resourceTrigger: [{ resource: 'Resource' }] }),
    ];
    for (const each of all) expect((await server.send('POST', '/SubscriptionTopic', each)).status).toBe(201);
  });
  const expectRefused = (answer: Answer, status: number, code: string): void =>
    expect([answer.status, codeOf(answer)], answer.text).toEqual([status, code]);

  it.each(REFUSED)('refuses %s and names the element', async (_, more, place, word) => {
    const answer = await create(subscription(more));
    expectRefused(answer, 422, 'subscription-refused');
    const places = answer.json().issue.map(({ expression }: { expression: string[] }) => expression[0]);
    expect(places).toEqual([`Subscription.${place}`]);
    expect(answer.json().issue[0].details.text).toContain(word);
  });

  it.each(TAKEN)('takes %s', async (_, more) => {
    const answer = await create(subscription(more));
    expect([answer.status, answer.json().status], answer.text).toEqual([201, 'requested']);
  });

  it('never quotes the value of a header', async () => {
    const answer = await create(subscription({ parameter: [{ name: 'bad name', value: 'secret-value' }] }));
    expectRefused(answer, 422, 'subscription-refused');
    expect(answer.text).not.toContain('secret-value');
  });

  it('knows no levels of content but those of the specification', async () => {
    const { id } = (await create(subscription())).json();
    expectRefused(
      await server.send('GET', `/Subscription/${id}/$events?content=constructor`),
      400,
      'parameter-invalid',
    );
  });

  describe('status', () => {
    it('active and error mean requested', async () => {
      for (const status of ['active', 'error']) {
        expect((await create(subscription({ status }))).json().status).toBe('requested');
      }
    });

    it('what the server gave stays, unless deliveries change', async () => {
      const { id } = (await create(subscription())).json();
      const put = async (body: object) => (await server.send('PUT', `/Subscription/${id}`, { ...body, id })).json();
      // As the engine does it.
      const activate = async (): Promise<void> => {
        const current = await store.read('Subscription', id);
        const { services } = createServices({ tables, store, extract: createExtractor(tables, { own: OWN }) });
        await store.write([(await composePut(subscription({ id, status: 'active' }), id, current, services))!]);
      };
      await activate();
      expect((await put(subscription({ status: 'active', reason: 'x' }))).status).toBe('active');
      expect((await put(subscription({ status: 'error', reason: 'y' }))).status).toBe('requested');
      await activate();
      expect((await put(subscription({ status: 'active', endpoint: 'https://other.example' }))).status).toBe('requested'); // prettier-ignore
    });

    it('off is taken whatever else is wrong, so that a client can always end it', async () => {
      expect((await create(subscription({ status: 'off', topic: 'http://example.org/gone' }))).status).toBe(201);
    });
  });

  it('the topic of the highest version decides', async () => {
    const body = topic({ version: '9', canFilterBy: [] });
    await server.send('POST', '/SubscriptionTopic', body);
    expect((await create(subscription(filter({ modifier: 'not' })))).status).toBe(201);
    expect((await create(subscription({ topic: `${TOPIC}|9`, ...filter({ modifier: 'not' }) }))).status).toBe(422);
  });

  it('references in it are replaced by a write like others', async () => {
    for (const id of ['from', 'to']) await server.send('PUT', `/Organization/${id}`, { resourceType: 'Organization', id, name: id }); // prettier-ignore
    await create(subscription({ managingEntity: { reference: 'Organization/from' } }));
    const parameters = replacementParameters('Organization/from', 'Organization/to');
    const replace = () => server.send('POST', '/$svc.fhir.replace-references', parameters);
    endpointFault = () => 'is allowed no more';
    expectRefused(await replace(), 422, 'subscription-refused');
    endpointFault = () => undefined;
    const answer = await replace();
    expect(answer.status, answer.text).toBe(200);
  });

  it('a later version of the topic that is retired decides nothing', async () => {
    const url = `${TOPIC}-later`;
    await server.send('POST', '/SubscriptionTopic', topic({ url, version: '1', canFilterBy }));
    const body = subscription({ topic: url, ...filter({ modifier: 'not' }) });
    const created = (await create(body)).json();
    await server.send('POST', '/SubscriptionTopic', topic({ url, version: '2', status: 'retired' }));
    const answer = await server.send('PUT', `/Subscription/${created.id}`, { ...body, id: created.id, reason: 'x' });
    expect(answer.status, answer.text).toBe(200);
    expect((await create(body)).status).toBe(201);
  });

  describe('rights', () => {
    const post = (scopes: string, body: object) => guarded.as(scopes).send('POST', '/Subscription', body);

    it.each([
      ['rs on the type of the trigger', 'system/Subscription.c', TOPIC, 'system/Observation.rs'],
      ['rs, not r', 'system/Subscription.c system/Observation.r', TOPIC, 'system/Observation.rs'],
      [
        's on what chains lead over',
        'system/Subscription.c system/Observation.rs',
        `${TOPIC}-chain`,
        'system/Patient.s',
      ],
      ['rs on all types', 'system/Subscription.c system/Observation.rs', `${TOPIC}-all`, 'system/*.rs'],
    ])('a Subscription needs %s', async (_, scopes, url, needed) => {
      const answer = await post(scopes, subscription({ topic: url }));
      expect(answer.status, answer.text).toBe(403);
      expect(neededBy(answer)).toContain(needed);
      expect((await post(`${scopes} ${needed}`, subscription({ topic: url }))).status).toBe(201);
    });

    it('a constrained scope is enough: events are within it', async () => {
      expect((await post('system/Subscription.c system/Observation.rs?code=x', subscription())).status).toBe(201);
    });

    it('an update needs them too', async () => {
      const { id } = (await create(subscription())).json();
      const put = (scopes: string) => guarded.as(scopes).send('PUT', `/Subscription/${id}`, subscription({ id, reason: scopes })); // prettier-ignore
      expect((await put('system/Subscription.u')).status).toBe(403);
      expect((await put('system/Subscription.u system/Observation.rs')).status).toBe(200);
    });

    it('a topic needs no data scopes', async () => {
      const answer = await guarded.as('system/SubscriptionTopic.c').send('POST', '/SubscriptionTopic', topic({ url: `${TOPIC}-own` })); // prettier-ignore
      expect(answer.status).toBe(201);
    });

    it('a client has so many at most', async () => {
      isFull = true;
      const answer = await post('system/Subscription.c system/Observation.rs', subscription());
      isFull = false;
      expectRefused(answer, 422, 'subscriptions-too-many');
      expect(answer.json().issue[0].code).toBe('too-costly');
    });
  });
}
