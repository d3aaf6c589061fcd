import { beforeAll, describe, expect, it } from 'vitest';

import type { Resource } from '../../../runtime/fhir/resource.js';
import type { Store } from '../../../runtime/store/store.js';
import { codeOf, type Answer } from '../server.js';
import { serveWith } from '../auth/support.js';
import { useBundleServer } from '../bundles/bundle-server.js';
import { word } from '../write-server.js';
import { checksWith, subscription, topic, TOPIC, triggered } from './samples.js';
import { REFUSED, TAKEN } from './topic-cases.js';

/** Expressions of the issues of a refusal. */
const placesOf = (answer: Answer): string[] =>
  answer.json().issue.map(({ expression }: { expression: string[] }) => expression[0]);

/** Writes of SubscriptionTopics. https://hl7.org/fhir/R5/subscriptiontopic.html */
export function topics(store: Store): void {
  const live = new Map<string, Resource[]>();
  const options = { subscriptions: checksWith({ liveOn: (id) => Promise.resolve(live.get(id) ?? []) }) };
  const server = useBundleServer(store, options);
  const guarded = serveWith(store, options);
  const create = (body: object, headers = {}) => server.send('POST', '/SubscriptionTopic', body, headers);

  it.each(REFUSED)('refuses %s and names the element', async (_, body, place, word) => {
    const answer = await create(body);
    expect([answer.status, codeOf(answer)], answer.text).toEqual([422, 'topic-refused']);
    expect(placesOf(answer)).toEqual([`SubscriptionTopic.${place}`]);
    expect(answer.json().issue[0].details.text).toContain(word);
    expect(['invalid', 'not-supported']).toContain(answer.json().issue[0].code);
  });

  beforeAll(async () => {
    const include = [{ system: 'http://loinc.org', concept: [{ code: '1' }] }];
    const set = { resourceType: 'ValueSet', url: 'http://example.org/vs', status: 'active', compose: { include } };
    expect((await server.send('POST', '/ValueSet', set)).status).toBe(201);
  });

  it('refuses a value set that the server does not know', async () => {
    const answer = await create(triggered({ queryCriteria: { previous: 'code:in=http://example.org/none' } }));
    expect([answer.status, codeOf(answer)], answer.text).toEqual([422, 'topic-refused']);
    expect(placesOf(answer)).toEqual(['SubscriptionTopic.resourceTrigger[0].queryCriteria.previous']);
  });

  it('a topic tells of no value set that its author may not read', async () => {
    const write = async (scopes: string, url: string) => {
      const body = triggered({ queryCriteria: { current: `code:in=${url}` } });
      const { status, text } = await guarded.as(scopes).send('POST', '/SubscriptionTopic', body);
      return `${status} ${status === 201 ? '' : text.replaceAll(url, 'it')}`;
    };
    const [own, none] = ['http://example.org/vs', 'http://example.org/none'];
    expect(await write('system/SubscriptionTopic.c', own)).toBe(await write('system/SubscriptionTopic.c', none));
    expect(await write('system/SubscriptionTopic.c system/ValueSet.rs system/CodeSystem.rs', own)).toBe('201 ');
  });

  it.each(TAKEN)('takes %s', async (_, body) => {
    const answer = await create(body);
    expect(answer.status, answer.text).toBe(201);
  });

  it('names all faults at once', async () => {
    const trigger = {
      resource: 'Observation',
      queryCriteria: { previous: 'a=1', current: 'b=1' },
      fhirPathCriteria: 'c',
    };
    const body = topic({ resourceTrigger: [trigger, { resource: 'X' }], canFilterBy: [{ filterParameter: 'd' }] });
    expect(placesOf(await create(body))).toEqual([
      'SubscriptionTopic.resourceTrigger[0].queryCriteria.previous',
      'SubscriptionTopic.resourceTrigger[0].queryCriteria.current',
      'SubscriptionTopic.resourceTrigger[0].fhirPathCriteria',
      'SubscriptionTopic.resourceTrigger[1].resource',
      'SubscriptionTopic.canFilterBy[0].filterParameter',
    ]);
  });

  it('stores what is optional and unknown where the client is lenient', async () => {
    const body = topic({
      canFilterBy: [{ filterParameter: 'nonsense' }, { filterParameter: 'code', modifier: ['iterate'] }],
      notificationShape: [{ resource: 'Observation', include: ['Observation:nothing'] }],
    });
    expect((await create(body)).status).toBe(422);
    const lenient = { prefer: 'handling=lenient' };
    expect((await create(body, lenient)).status).toBe(201);
    const broken = { ...body, resourceTrigger: [{ resource: 'X' }] };
    expect((await create(broken, lenient)).status).toBe(422);
  });

  describe('in every way to write', () => {
    const bad = triggered({ queryCriteria: { current: 'x=1' } });
    it.each<[string, () => Promise<Answer>]>([
      ['PUT', () => server.send('PUT', '/SubscriptionTopic/bad', { ...bad, id: 'bad' })],
      ['a conditional create', () => create(bad, { 'if-none-exist': `identifier=${word()}` })],
      ['a conditional update', () => server.send('PUT', `/SubscriptionTopic?identifier=${word()}`, bad)],
      [
        'a transaction',
        () =>
          server.send('POST', '', {
            resourceType: 'Bundle',
            type: 'transaction',
            entry: [{ resource: bad, request: { method: 'POST', url: 'SubscriptionTopic' } }],
          }),
      ],
    ])('%s', async (_, send) => {
      const answer = await send();
      expect([answer.status, codeOf(answer)], answer.text).toEqual([422, 'topic-refused']);
    });

    it('a batch', async () => {
      const entry = [{ resource: bad, request: { method: 'POST', url: 'SubscriptionTopic' } }];
      const answer = await server.send('POST', '', { resourceType: 'Bundle', type: 'batch', entry });
      expect(answer.json().entry[0].response.status).toMatch(/^422/);
    });

    it('a patch', async () => {
      const { id } = (await create(topic())).json();
      const patch = [{ op: 'replace', path: '/resourceTrigger/0/resource', value: 'Thing' }];
      const headers = { 'content-type': 'application/json-patch+json' };
      const answer = await server.send('PATCH', `/SubscriptionTopic/${id}`, JSON.stringify(patch), headers);
      expect([answer.status, codeOf(answer)], answer.text).toEqual([422, 'topic-refused']);
    });
  });

  it('a topic stays as live Subscriptions need it', async () => {
    const canFilterBy = [{ filterParameter: 'code' }];
    const { id } = (await create(topic({ canFilterBy }))).json();
    const filterBy = [{ filterParameter: 'code', value: 'x' }];
    live.set(id, [subscription({ id: 'a', filterBy }), subscription({ id: 'b', filterBy })]);
    const put = (body: object) => server.send('PUT', `/SubscriptionTopic/${id}`, { ...body, id });
    for (const answer of [
      await put(topic()),
      await put(topic({ canFilterBy, url: `${TOPIC}-other` })),
      await server.send('DELETE', `/SubscriptionTopic/${id}`),
      await server.send('DELETE', `/SubscriptionTopic?_id=${id}`),
    ]) {
      expect([answer.status, codeOf(answer)], answer.text).toEqual([409, 'topic-in-use']);
      expect(answer.text).toContain('2 live Subscriptions');
    }
    expect((await put(topic({ canFilterBy, title: 'other' }))).status).toBe(200);
    expect((await put(topic({ canFilterBy, status: 'retired' }))).status).toBe(200);
    live.delete(id);
    expect((await server.send('DELETE', `/SubscriptionTopic/${id}`)).status).toBe(200);
  });
}
