import { rmSync } from 'node:fs';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it, vi } from 'vitest';

import { EVENTUALLY } from '../../eventually.js';
import { startKiln, type KilnProcess } from '../kiln-process.js';
import { startReceiver, statusOf, type Receiver } from './receiver.js';
import { clientOf, subscription, topic, TOPIC_URL } from './server.js';

/** Subscriptions and what they send, as clients and receivers see it. @param makeStore gives a store of its own, and its folder */
export function deliveries(makeStore: () => { readonly store: string; readonly folder?: string }): void {
  let made: ReturnType<typeof makeStore>;
  let kiln: KilnProcess;
  let base = '';
  let receiver: Receiver;
  const client = clientOf(() => base);
  let last = 0;
  const newId = (): string => `s${++last}`;
  const patient = (id: string, more: object = {}) => client.put({ resourceType: 'Patient', id, ...more });
  const stateOf = async (id: string): Promise<string> => (await client.send('GET', `Subscription/${id}`)).json.status;
  const reaches = (id: string, state: string) =>
    vi.waitFor(async () => expect(await stateOf(id)).toBe(state), EVENTUALLY);
  const arrives = (id: string, numbers: readonly number[], within = EVENTUALLY) =>
    vi.waitFor(() => expect([...new Set(receiver.numbers(id))]).toEqual(numbers), within);

  async function start(): Promise<void> {
    const args = ['serve', '--port', '0', '--store', made.store, '--subscriptions-allow', '127.0.0.1'];
    kiln = startKiln(args);
    base = await kiln.started;
  }

  async function subscribe(more: object = {}, id = newId()): Promise<string> {
    await client.put(subscription(id, receiver.url, more));
    return id;
  }

  beforeAll(async () => {
    made = makeStore();
    await start();
    await client.put(topic('patients', TOPIC_URL, { resource: 'Patient' }));
  }, 120_000);
  beforeEach(async () => {
    receiver = await startReceiver();
  });
  afterEach(async () => {
    const { json } = await client.send('GET', 'Subscription?_count=1000');
    for (const { resource } of json.entry ?? []) await client.delete(`Subscription/${resource.id}`);
    await receiver.close();
  });
  afterAll(async () => {
    kiln.child.kill('SIGTERM');
    await kiln.ended;
    if (made.folder !== undefined) rmSync(made.folder, { recursive: true });
    expect(kiln.output.err).not.toMatch(/Error:|defect/);
  });

  it('handshake, then an event for each version, in order', async () => {
    const id = await subscribe({ parameter: [{ name: 'X-Key', value: 'secret' }] });
    await reaches(id, 'active');
    await patient('a1');
    await patient('a1', { active: true });
    await client.delete('Patient/a1');
    await arrives(id, [1, 2, 3]);
    const [handshake, ...events] = receiver.statuses(id);
    expect(handshake).toMatchObject({ type: 'handshake', eventsSinceSubscriptionStart: '0' });
    expect(handshake!.notificationEvent).toBeUndefined();
    expect(events.map(({ type }) => type)).toEqual(events.map(() => 'event-notification'));
    const told = events.flatMap(({ notificationEvent = [] }) => notificationEvent);
    expect(told.map(({ focus }) => focus!.reference)).toEqual(told.map(() => `${base}/Patient/a1`));
    expect(receiver.received.every(({ headers }) => headers['x-key'] === 'secret')).toBe(true);
    expect(receiver.received[0]!.headers['content-type']).toBe('application/fhir+json');
  });

  it('counts what is written after its 201, also before the handshake is answered', async () => {
    receiver.answer = () => 500;
    const id = await subscribe();
    await patient('b1');
    await reaches(id, 'error');
    await patient('b2');
    receiver.answer = () => 204;
    await reaches(id, 'active');
    await arrives(id, [1, 2]);
  });

  it('shows the versions of events, and what the topic includes', async () => {
    const url = 'http://topic.example/observations';
    const shape = [{ resource: 'Observation', include: ['Observation:subject'] }];
    await client.put(topic('observations', url, { resource: 'Observation' }, { notificationShape: shape }));
    const id = await subscribe({ topic: url, content: 'full-resource', maxCount: 1 });
    await reaches(id, 'active');
    await patient('c1');
    const observation = {
      resourceType: 'Observation',
      id: 'c',
      code: { text: 'x' },
      subject: { reference: 'Patient/c1' },
    };
    await client.put({ ...observation, status: 'preliminary' });
    await client.put({ ...observation, status: 'final' });
    await arrives(id, [1, 2]);
    const bundles = receiver.received.map(({ text }) => JSON.parse(text)).filter(({ entry }) => entry.length > 1);
    expect(bundles.map(({ entry }) => entry[1].resource.status)).toEqual(['preliminary', 'final']);
    expect(bundles[0].entry[1]).toMatchObject({ fullUrl: `${base}/Observation/c`, request: { method: 'POST' } });
    expect(bundles[0].entry[2].resource).toMatchObject({ resourceType: 'Patient', id: 'c1' });
    const [event] = statusOf(receiver.received.at(-1)!.text).notificationEvent!;
    expect(event!.additionalContext).toEqual([{ reference: `${base}/Patient/c1` }].map((each) => expect.objectContaining(each))); // prettier-ignore
    await client.delete(`Subscription/${id}`);
    await client.delete('SubscriptionTopic/observations');
  });

  it('a resource that comes and goes is told in order, and no Bundle has equal entries', async () => {
    receiver.answer = () => 500;
    const id = await subscribe({ content: 'full-resource' });
    for (let i = 0; i < 3; i++) {
      await patient('again', { multipleBirthInteger: i });
      await client.delete('Patient/again');
    }
    receiver.answer = () => 200;
    await arrives(id, [1, 2, 3, 4, 5, 6]);
    const told: any[] = []; // eslint-disable-line @typescript-eslint/no-explicit-any
    for (let path = `Subscription/${id}/$events`; path !== '';) {
      const { json } = await client.send('GET', path);
      told.push(json);
      const next = json.link?.find(({ relation }: { relation: string }) => relation === 'next');
      path = next === undefined ? '' : next.url.slice(base.length + 1);
    }
    for (const bundles of [
      told,
      receiver.received.filter(({ status }) => status === 200).map(({ text }) => JSON.parse(text)),
    ]) {
      const entries = bundles.map(({ entry }) => entry.slice(1));
      const methods = entries.flat().map(({ request }) => request.method);
      expect(methods).toEqual(['POST', 'DELETE', 'POST', 'DELETE', 'POST', 'DELETE']);
      for (const own of entries)
        expect(own.filter(({ request }: any) => request.method === 'DELETE').length).toBeLessThan(2); // eslint-disable-line @typescript-eslint/no-explicit-any
    }
  });

  it('repeats what failed before anything later, and loses nothing to a receiver that fails', async () => {
    receiver.answer = ({ n }) => (n % 5 === 3 ? 503 : 200);
    const id = await subscribe({ maxCount: 3 });
    await reaches(id, 'active');
    for (let i = 0; i < 30; i++) await patient(`d${i % 7}`, { multipleBirthInteger: i });
    await arrives(id, Array.from({ length: 30 }, (_, i) => i + 1)); // prettier-ignore
    const numbers = receiver.numbers(id);
    expect(numbers).toEqual([...numbers].sort((a, b) => a - b));
    const { json } = await client.send('GET', `Subscription/${id}/$events`);
    const { notificationEvent } = json.entry[0].resource;
    expect(notificationEvent.map(({ eventNumber }: { eventNumber: string }) => Number(eventNumber))).toEqual(
      Array.from({ length: 30 }, (_, i) => i + 1),
    );
  });

  it('ends at 410, at `off` and at DELETE; goes on from where it was', async () => {
    const id = await subscribe();
    await reaches(id, 'active');
    await patient('e1');
    await arrives(id, [1]);
    receiver.answer = () => 410;
    await patient('e2');
    await reaches(id, 'off');
    await patient('e3');
    receiver.answer = () => 200;
    // Event 2 was not delivered, and what came while it was off made none.
    await subscribe({}, id);
    await reaches(id, 'active');
    await arrives(id, [1, 2]);
    await patient('e4');
    await arrives(id, [1, 2, 3]);
    await client.delete(`Subscription/${id}`);
    const before = receiver.received.length;
    await patient('e5');
    await patient('e6');
    await subscribe({}, id);
    await reaches(id, 'active');
    await patient('e7');
    await vi.waitFor(() => expect(receiver.statuses(id).at(-1)).toMatchObject({ eventsSinceSubscriptionStart: '1' }), EVENTUALLY); // prettier-ignore
    expect(
      receiver
        .statuses(id)
        .slice(before)
        .map(({ type }) => type),
    ).toEqual(['handshake', 'event-notification']);
  });

  it('sends heartbeats, and ends at `end`', async () => {
    const beating = await subscribe({ heartbeatPeriod: 5 });
    await vi.waitFor(() => expect(receiver.statuses(beating).at(-1)?.type).toBe('heartbeat'), EVENTUALLY);
    const ended = await subscribe({ end: new Date(Date.now() + 2000).toISOString() });
    await reaches(ended, 'off');
  });

  it('says how it is: $status', async () => {
    const early = await subscribe();
    await reaches(early, 'active');
    receiver.answer = () => 404;
    await patient('early');
    // What failed is told before it makes the state an error.
    const errors = async (): Promise<unknown> => (await client.send('GET', `Subscription/${early}/$status`)).json.entry[0].resource.error; // prettier-ignore
    await vi.waitFor(async () => expect(await errors()).toMatchObject([{ coding: [{ code: 'error-response' }] }]), EVENTUALLY); // prettier-ignore
    await client.delete(`Subscription/${early}`);
    const id = await subscribe();
    await reaches(id, 'error');
    const { json } = await client.send('GET', `Subscription/${id}/$status`);
    expect(json).toMatchObject({ resourceType: 'Bundle', type: 'searchset', total: 1 });
    const { resource } = json.entry[0];
    expect(resource).toMatchObject({ type: 'query-status', status: 'error', eventsSinceSubscriptionStart: '0' });
    expect(resource.error[0]).toMatchObject({ coding: [{ code: 'error-response' }] });
    expect((await client.send('GET', `Subscription/$status?id=${id},none&status=error,off`)).json.total).toBe(1);
    expect((await client.send('GET', 'Subscription/$status?status=active')).json.total).toBe(0);
    expect((await client.send('GET', 'Subscription/$status?status=odd')).status).toBe(400);
    expect((await client.send('GET', 'Subscription/none/$status')).status).toBe(404);
  });

  it('goes by the topic that it was accepted with: a later version that is retired changes nothing', async () => {
    const url = `${TOPIC_URL}-versions`;
    const retired = { version: '2', status: 'retired' };
    await client.put(topic('versions-2', url, { resource: 'Observation' }, retired));
    await client.put(topic('versions-1', url, { resource: 'Patient' }, { version: '1' }));
    const id = await subscribe({ topic: url });
    await reaches(id, 'active');
    await patient('v1');
    await arrives(id, [1]);
  });

  it('is in error while a search parameter of its topic is missing', { timeout: 60_000 }, async () => {
    const url = `${TOPIC_URL}-own`;
    const own = {
      ...{
        resourceType: 'SearchParameter',
        id: 'x-own',
        url: 'http://topic.example/x-own',
        name: 'XOwn',
        code: 'x-own',
      },
      ...{
        status: 'active',
        description: 'x',
        base: ['Patient'],
        type: 'token',
        processingMode: 'normal',
        expression: 'Patient.active',
      },
    };
    await client.put(own);
    await client.put(topic('own', url, { resource: 'Patient', queryCriteria: { current: 'x-own=true' } }));
    const id = await subscribe({ topic: url });
    await reaches(id, 'active');
    await client.delete('SearchParameter/x-own');
    await patient('o1', { active: true });
    await reaches(id, 'error');
    const { json } = await client.send('GET', `Subscription/${id}/$status`);
    expect(json.entry[0].resource.error[0]).toMatchObject({ coding: [{ code: 'not-evaluated' }] });
    await client.put(own);
    await patient('o2', { active: true });
    await reaches(id, 'active');
  });

  it('has no web sockets unless the setting says so', async () => {
    const channel = { ...subscription('x', ''), endpoint: undefined, channelType: { code: 'websocket' } };
    const { status, json } = await client.send('POST', 'Subscription', channel);
    expect([status, json.issue[0].expression]).toEqual([422, ['Subscription.channelType']]);
    for (const path of ['Subscription', 'Subscription/x'])
      expect((await client.send('POST', `${path}/$get-ws-binding-token`)).status).toBe(501);
    const statement = await client.send('GET', 'metadata');
    expect(JSON.stringify(statement.json)).not.toMatch(/get-ws-binding-token|capabilitystatement-websocket/);
    expect((await client.send('GET', 'websocket')).status).toBe(404);
  });

  it('refuses what it would not connect to', async () => {
    for (const endpoint of [
      'http://10.0.0.1/x',
      'https://localhost/x',
      'https://192.168.1.1/',
      'http://example.org/',
    ]) {
      const answer = await client.send('POST', 'Subscription', subscription('x', endpoint));
      expect(answer.status, endpoint).toBe(422);
    }
  });

  it(
    'goes on after a kill: states, numbers and what was not delivered are in the store',
    { timeout: 180_000 },
    async () => {
      receiver.answer = ({ n }) => (n > 2 && n < 6 ? 500 : 200);
      const id = await subscribe({ maxCount: 2 });
      await reaches(id, 'active');
      for (let i = 0; i < 10; i++) await patient(`k${i}`);
      kiln.child.kill('SIGKILL');
      await kiln.ended;
      await start();
      for (let i = 10; i < 15; i++) await patient(`k${i}`);
      // What the killed process had begun in MongoDB may hold its place for a minute.
      const all = Array.from({ length: 15 }, (_, i) => i + 1);
      await arrives(id, all, { ...EVENTUALLY, timeout: 120_000 });
      expect(receiver.statuses(id).filter(({ type }) => type === 'handshake')).toHaveLength(1);
    },
  );
}
