import { rmSync } from 'node:fs';
import { request } from 'node:http';
import { afterAll, afterEach, beforeAll, expect, it, vi } from 'vitest';

import { EVENTUALLY } from '../../eventually.js';
import { startKiln, type KilnProcess } from '../kiln-process.js';
import { clientOf, subscription, topic, TOPIC_URL } from './server.js';
import { bindingOf, connect, type Peer } from './socket-peer.js';

/** Notifications by web sockets, as clients see them. @param makeStore gives a store of its own, and its folder */
export function webSockets(makeStore: () => { readonly store: string; readonly folder?: string }): void {
  let made: ReturnType<typeof makeStore>;
  let kiln: KilnProcess;
  let base = '';
  const peers: Peer[] = [];
  const client = clientOf(() => base);
  let last = 0;
  const patient = (id: string) => client.put({ resourceType: 'Patient', id });
  const stateOf = async (id: string): Promise<string> => (await client.send('GET', `Subscription/${id}`)).json.status;
  const reaches = (id: string, state: string) =>
    vi.waitFor(async () => expect(await stateOf(id)).toBe(state), EVENTUALLY);
  const arrives = (peer: Peer, id: string, numbers: readonly number[]) =>
    vi.waitFor(() => expect(peer.numbers(id)).toEqual(numbers), EVENTUALLY);

  async function start(): Promise<KilnProcess> {
    const process = startKiln([
      'serve',
      '--port',
      '0',
      '--auth',
      'open',
      '--store',
      made.store,
      '--subscriptions-websocket',
      'true',
    ]);
    await process.started;
    return process;
  }

  async function subscribe(more: object = {}, id = `w${++last}`): Promise<string> {
    const { endpoint: _endpoint, ...rest } = subscription(id, '');
    await client.put({ ...rest, channelType: { code: 'websocket' }, ...more });
    return id;
  }

  const counts = (id: string, events: number) =>
    vi.waitFor(async () => {
      const { json } = await client.send('GET', `Subscription/${id}/$status`);
      expect(json.entry[0].resource.eventsSinceSubscriptionStart).toBe(String(events));
    }, EVENTUALLY);

  async function bindingFor(...ids: string[]) {
    const parameter = ids.map((id) => ({ name: 'id', valueId: id }));
    const body = parameter.length === 0 ? undefined : { resourceType: 'Parameters', parameter };
    const answer = await client.send('POST', 'Subscription/$get-ws-binding-token', body);
    expect(answer.status, JSON.stringify(answer.json)).toBe(200);
    return bindingOf(answer.json);
  }

  async function bind(...ids: string[]): Promise<Peer> {
    const { url, token } = await bindingFor(...ids);
    const peer = await connect(url, token);
    peers.push(peer);
    return peer;
  }

  beforeAll(async () => {
    made = makeStore();
    kiln = await start();
    base = await kiln.started;
    await client.put(topic('patients', TOPIC_URL, { resource: 'Patient' }));
  }, 120_000);
  afterEach(async () => {
    for (const { socket } of peers.splice(0)) socket.terminate();
    const { json } = await client.send('GET', 'Subscription?_count=1000');
    for (const { resource } of json.entry ?? []) await client.delete(`Subscription/${resource.id}`);
  });
  afterAll(async () => {
    kiln.child.kill('SIGTERM');
    await kiln.ended;
    if (made.folder !== undefined) rmSync(made.folder, { recursive: true });
    expect(kiln.output.err).not.toMatch(/Error:|defect|Warning/);
  });

  it('handshake, what waited, then events as they come', async () => {
    const id = await subscribe();
    await patient('a1');
    await patient('a2');
    await counts(id, 2);
    expect(await stateOf(id)).toBe('requested');
    const { url, token, expiration, subscriptions } = await bindingFor(id);
    expect(url).toBe(`${base.replace('http', 'ws')}/websocket`);
    expect(subscriptions).toEqual([id]);
    expect(Date.parse(expiration) - Date.now()).toBeLessThanOrEqual(60_000);
    const peer = await connect(url, token);
    peers.push(peer);
    await arrives(peer, id, [1, 2]);
    await reaches(id, 'active');
    await patient('a3');
    await arrives(peer, id, [1, 2, 3]);
    const [handshake, ...events] = peer.statuses();
    expect(handshake).toMatchObject({ type: 'handshake', eventsSinceSubscriptionStart: '2', topic: TOPIC_URL });
    expect(new Set(events.map(({ type }) => type))).toEqual(new Set(['event-notification']));
    const told = events.flatMap(({ notificationEvent = [] }) => notificationEvent);
    expect(told.map(({ focus }) => focus!.reference)).toEqual([1, 2, 3].map((n) => `${base}/Patient/a${n}`));
  });

  it('without a peer it is active, and events wait for the next one', async () => {
    const id = await subscribe();
    const first = await bind(id);
    await reaches(id, 'active');
    await patient('b1');
    await arrives(first, id, [1]);
    first.socket.close();
    await first.closed;
    for (let i = 2; i < 8; i++) await patient(`b${i}`);
    expect(await stateOf(id)).toBe('active');
    const second = await bind(id);
    await arrives(second, id, [2, 3, 4, 5, 6, 7]);
    expect(second.statuses(id)[0]).toMatchObject({ type: 'handshake' });
    const { json } = await client.send('GET', `Subscription/${id}/$events`);
    expect(json.entry[0].resource.notificationEvent).toHaveLength(7);
    expect(await stateOf(id)).toBe('active');
  });

  it('one socket has several Subscriptions, in their own levels and formats', async () => {
    const [ids, full] = [await subscribe({ content: 'empty' }), await subscribe({ content: 'full-resource', contentType: 'application/fhir+xml' })]; // prettier-ignore
    const { url, token, subscriptions } = await bindingFor();
    expect([...subscriptions].sort()).toEqual([ids, full].sort());
    const peer = await connect(url, token);
    peers.push(peer);
    await vi.waitFor(() => expect(peer.received).toHaveLength(2), EVENTUALLY);
    await patient('c1');
    await vi.waitFor(() => expect(peer.received).toHaveLength(4), EVENTUALLY);
    const [xml] = peer.received.slice(2).filter((text) => text.startsWith('<'));
    expect(xml).toContain('<Patient');
    const [json] = peer.received.slice(2).filter((text) => text.startsWith('{'));
    expect(JSON.parse(json!).entry).toHaveLength(1);
  });

  it('a second binding closes the first', async () => {
    const id = await subscribe();
    const first = await bind(id);
    await reaches(id, 'active');
    const second = await bind(id);
    expect(await first.closed).toBe(4409);
    await patient('d1');
    await arrives(second, id, [1]);
    expect(first.numbers(id)).toEqual([]);
  });

  it('a token is good once; what is none, and a socket without one, is closed with 4401', async () => {
    const id = await subscribe();
    const { url, token } = await bindingFor(id);
    const first = await connect(url, token);
    peers.push(first);
    await reaches(id, 'active');
    for (const bad of [token, 'x', 'x'.repeat(1000)]) expect(await (await connect(url, bad)).closed, bad).toBe(4401);
    const odd = await connect(url);
    odd.socket.send('{"type":"other"}');
    expect(await odd.closed).toBe(4401);
    expect(await (await connect(url)).closed).toBe(4401);
    await patient('e1');
    await arrives(first, id, [1]);
  });

  it('a message that the peer has not confirmed is not delivered', async () => {
    const id = await subscribe({ timeout: 2 });
    const deaf = await bind(id);
    await reaches(id, 'active');
    deaf.socket.pause();
    await patient('f1');
    await patient('f2');
    // It is cut off: the next one gets all of it.
    await counts(id, 2);
    await new Promise((resolve) => setTimeout(resolve, 2500));
    deaf.socket.resume();
    expect(await deaf.closed).toBe(1006);
    expect(await stateOf(id)).toBe('active');
    const next = await bind(id);
    await arrives(next, id, [1, 2]);
  });

  it('sends heartbeats, and ends at `end`, also without a peer', async () => {
    const id = await subscribe({ heartbeatPeriod: 5 });
    const short = await subscribe({ end: new Date(Date.now() + 3000).toISOString() });
    const peer = await bind(id);
    await reaches(short, 'off');
    await vi.waitFor(() => expect(peer.statuses(id).at(-1)!.type).toBe('heartbeat'), EVENTUALLY);
  });

  it('says nothing more after `off` and DELETE, and goes on when it is requested again', async () => {
    const id = await subscribe();
    const peer = await bind(id);
    await reaches(id, 'active');
    await subscribe({ status: 'off' }, id);
    await patient('g1');
    await subscribe({}, id);
    await reaches(id, 'active');
    await patient('g2');
    await arrives(peer, id, [1]);
    expect(peer.statuses(id).filter(({ type }) => type === 'handshake')).toHaveLength(2);
    await client.delete(`Subscription/${id}`);
    await patient('g3');
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect(peer.numbers(id)).toEqual([1]);
  });

  it('refuses other channels, other paths and pages of other origins; answers requests for other protocols', async () => {
    const hook = await client.send('POST', 'Subscription', subscription('x', 'https://receiver.example/'));
    const path = `Subscription/${hook.json.id}/$get-ws-binding-token`;
    expect((await client.send('POST', path)).status).toBe(422);
    expect((await client.send('POST', 'Subscription/none/$get-ws-binding-token')).status).toBe(404);
    expect((await client.send('POST', 'Subscription/$get-ws-binding-token')).status).toBe(422);
    const withEndpoint = { ...subscription('y', 'https://receiver.example/'), channelType: { code: 'websocket' } };
    expect((await client.send('POST', 'Subscription', withEndpoint)).status).toBe(422);
    const url = `${base.replace('http', 'ws')}/websocket`;
    await expect(connect(`${url}/x`)).rejects.toThrow('404');
    await expect(connect(url, undefined, { origin: 'http://evil.example' })).rejects.toThrow('403');
    const own = await connect(url, undefined, { origin: new URL(base).origin });
    peers.push(own);
    const { json } = await client.send('GET', 'metadata');
    expect(json.rest[0].extension).toEqual([
      { url: 'http://hl7.org/fhir/StructureDefinition/capabilitystatement-websocket', valueUri: url },
    ]);
    const headers = { connection: 'Upgrade, HTTP2-Settings', upgrade: 'h2c', 'http2-settings': 'AAMAAABkAAQAoAAAAAIAAAAA', 'content-type': 'application/fhir+json' }; // prettier-ignore
    const status = await new Promise((resolve, reject) => {
      const call = request(`${base}/Patient`, { method: 'POST', headers }, (answer) => {
        answer.resume();
        resolve(answer.statusCode);
      });
      call.on('error', reject);
      call.end(JSON.stringify({ resourceType: 'Patient' }));
    });
    expect(status).toBe(201);
  });

  it(
    'goes on after a kill: a new socket gets what the one before had not confirmed',
    { timeout: 180_000 },
    async () => {
      const id = await subscribe({ maxCount: 3 });
      const first = await bind(id);
      await reaches(id, 'active');
      for (let i = 1; i <= 30; i++) await patient(`k${i}`);
      await vi.waitFor(() => expect(first.numbers(id).length).toBeGreaterThan(2), EVENTUALLY);
      kiln.child.kill('SIGKILL');
      await kiln.ended;
      expect(await first.closed).toBe(1006);
      kiln = await start();
      base = await kiln.started;
      const second = await bind(id);
      await patient('k31');
      const all = Array.from({ length: 31 }, (_, i) => i + 1);
      // What the killed process had begun in MongoDB may hold its place for a minute.
      await vi.waitFor(() => expect([...new Set([...first.numbers(id), ...second.numbers(id)])]).toEqual(all), { ...EVENTUALLY, timeout: 120_000 }); // prettier-ignore
      for (const { numbers } of [first, second]) expect(numbers(id)).toEqual([...numbers(id)].sort((a, b) => a - b));
    },
  );

  it('one that has stopped reading does not hold up others, nor the end of the server', async () => {
    const [slow, quick] = [await subscribe({ timeout: 60 }), await subscribe()];
    const more = await subscribe({ timeout: 60 });
    const deaf = await bind(slow, more);
    await vi.waitFor(() => expect(deaf.statuses()).toHaveLength(2), EVENTUALLY);
    deaf.socket.pause();
    const peer = await bind(quick);
    for (let i = 1; i <= 5; i++) await patient(`l${i}`);
    await arrives(peer, quick, [1, 2, 3, 4, 5]);
    kiln.child.kill('SIGTERM');
    const before = performance.now();
    expect(await kiln.ended).toBe(0);
    expect(performance.now() - before).toBeLessThan(30_000);
    kiln = await start();
    base = await kiln.started;
    deaf.socket.terminate();
    const again = await bind(slow);
    await arrives(again, slow, [1, 2, 3, 4, 5]);
  });

  it('works from any process of a store, and goes on after one has ended', { timeout: 120_000 }, async () => {
    const [one, two] = [await subscribe(), await subscribe()];
    const other = await start();
    const there = (await other.started).replace('http', 'ws');
    const { token } = await bindingFor(one);
    const far = await connect(`${there}/websocket`, token);
    const near = await bind(two);
    peers.push(far);
    await vi.waitFor(() => expect(far.statuses(one)).toHaveLength(1), EVENTUALLY);
    await vi.waitFor(() => expect(near.statuses(two)).toHaveLength(1), EVENTUALLY);
    for (let i = 1; i <= 20; i++) await patient(`h${i}`);
    const all = Array.from({ length: 20 }, (_, i) => i + 1);
    await arrives(far, one, all);
    await arrives(near, two, all);
    // Bound at one process, then at the other.
    const moved = await bind(one);
    expect(await far.closed).toBe(4409);
    await patient('h21');
    await arrives(moved, one, [21]);
    other.child.kill('SIGTERM');
    expect(await other.ended).toBe(0);
    const before = performance.now();
    kiln.child.kill('SIGTERM');
    expect(await kiln.ended).toBe(0);
    expect(await moved.closed).toBe(1001);
    expect(performance.now() - before).toBeLessThan(20_000);
    kiln = await start();
    base = await kiln.started;
    await patient('h22');
    const again = await bind(one);
    await arrives(again, one, [22]);
  });
}
