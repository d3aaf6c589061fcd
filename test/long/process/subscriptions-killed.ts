import { afterAll, beforeAll, expect, it, onTestFailed, vi } from 'vitest';

import { startKiln, type KilnProcess } from '../../service/kiln-process.js';
import { startReceiver, statusOf, type Receiver } from '../../service/subscriptions/receiver.js';
import { clientOf, subscription, topic, TOPIC_URL } from '../../service/subscriptions/server.js';
import { soak } from '../soak.js';

const EVENTS = soak(2000);
const WRITERS = 4;

/** Versions that are written once the Subscription is off. */
const AFTERWARDS = 50;

/** What is killed, one after the other at equal distances. */
export interface Killed {
  readonly store: string;
  /** Kills of servers, each of which is started again. */
  readonly servers: number;
  /** Of the database; each resolves when it works again, or may do so. */
  readonly database?: readonly (() => Promise<void>)[];
}

/**
 * Events while a server, or each of two in turn, is killed again and again, and the database as well, and the receiver fails 20 % of the time:
 * each event is delivered at least once, in order, with numbers without a gap, and none after the end; `$events` has the same list.
 *
 * @param processes that share the store
 */
export function killedDeliveries(open: () => Killed | Promise<Killed>, processes: 1 | 2): void {
  let killed: Killed;
  let store: string;
  let servers: KilnProcess[];
  let bases: string[];
  let receiver: Receiver;

  const start = (): KilnProcess =>
    startKiln(['serve', '--port', '0', '--store', store, '--subscriptions-allow', '127.0.0.1']);

  async function restart(n: number): Promise<void> {
    servers[n]!.child.kill('SIGKILL');
    await servers[n]!.ended;
    servers[n] = start();
    bases[n] = await servers[n]!.started;
  }

  beforeAll(async () => {
    killed = await open();
    ({ store } = killed);
    receiver = await startReceiver();
    servers = Array.from({ length: processes }, start);
    bases = await Promise.all(servers.map(({ started }) => started));
  }, 120_000);
  afterAll(async () => {
    for (const server of servers) server.child.kill('SIGKILL');
    await Promise.all(servers.map(({ ended }) => ended));
    await receiver.close();
  });

  it(`${EVENTS} events, a receiver that fails 20 % of the time, and kills`, { timeout: 1_800_000 }, async () => {
    onTestFailed(() => console.info(servers.map(({ output }) => output.err).join('\n')));
    receiver.answer = () => (Math.random() < 0.2 ? 500 : 200);
    const client = clientOf(() => bases[0]!);
    await client.put(topic('all', TOPIC_URL, { resource: 'Patient' }));
    await client.put(subscription('killed', receiver.url));
    let written = 0;
    /** `Patient/id` of what was acknowledged, or may have been written. */
    const acknowledged = new Set<string>();
    const write = async (writer: number): Promise<void> => {
      const own = clientOf(() => bases[writer % processes]!);
      for (let i = 0; written < EVENTS; i++) {
        const id = `w${writer}-${i}`;
        const answer = await own
          .send('PUT', `Patient/${id}`, { resourceType: 'Patient', id })
          .catch(() => ({ status: 0 }));
        if (answer.status === 200 || answer.status === 201) {
          written++;
          acknowledged.add(`Patient/${id}`);
        } else await new Promise((resolve) => setTimeout(resolve, 50));
      }
    };
    const writing = Promise.all(Array.from({ length: WRITERS }, (_, n) => write(n)));
    const restarts = Array.from({ length: killed.servers }, (_, n) => () => restart(n % processes));
    const database = killed.database ?? [];
    // Those of the database come between those of servers.
    const kills = restarts.flatMap((each, n) => (database[n] === undefined ? [each] : [each, database[n]]));
    for (const [n, kill] of kills.entries()) {
      const at = ((n + 1) * EVENTS) / (kills.length + 1);
      await vi.waitFor(() => expect(written).toBeGreaterThanOrEqual(at), { timeout: 300_000, interval: 10 });
      await kill();
    }
    await writing;
    const total = await vi.waitFor(
      async () => {
        const { json } = await client.send('GET', 'Subscription/killed/$status');
        const { eventsSinceSubscriptionStart, status } = json.entry[0].resource;
        const count = Number(eventsSinceSubscriptionStart);
        expect(count).toBeGreaterThanOrEqual(acknowledged.size);
        expect(Math.max(0, ...receiver.numbers('killed'))).toBe(count);
        expect(status).toBe('active');
        return count;
      },
      { timeout: 600_000, interval: 500 },
    );
    // Each number first comes after all before it.
    const firsts = [...new Set(receiver.numbers('killed'))];
    expect(firsts).toEqual(Array.from({ length: total }, (_, i) => i + 1));
    // A number always means the same, and every acknowledged write is among them.
    const told = new Map<number, string>();
    for (const { text, status } of receiver.received) {
      for (const { eventNumber, focus } of statusOf(text).notificationEvent ?? []) {
        const name = focus!.reference.replace(/^.*\/(?=Patient)/, '');
        expect(told.get(Number(eventNumber)) ?? name).toBe(name);
        if (status === 200) told.set(Number(eventNumber), name);
      }
    }
    const names = new Set(told.values());
    expect([...acknowledged].filter((name) => !names.has(name))).toEqual([]);
    const listed: string[] = [];
    for (let next: string | undefined = 'Subscription/killed/$events'; next !== undefined;) {
      const { json }: { json: any } = await client.send('GET', next); // eslint-disable-line @typescript-eslint/no-explicit-any
      for (const { focus } of json.entry[0].resource.notificationEvent) listed.push(focus.reference.replace(/^.*\/(?=Patient)/, '')); // prettier-ignore
      next = json.link?.find(({ relation }: { relation: string }) => relation === 'next')?.url.replace(/^.*\/(?=Subscription)/, ''); // prettier-ignore
    }
    expect(listed).toEqual([...told.entries()].sort(([a], [b]) => a - b).map(([, name]) => name)); // prettier-ignore

    await client.put(subscription('killed', receiver.url, { status: 'off' }));
    const last = receiver.numbers('killed').length;
    await client.put(subscription('next', receiver.url));
    for (let i = 0; i < AFTERWARDS; i++) await client.put({ resourceType: 'Patient', id: `after-${i}` });
    await vi.waitFor(() => expect(new Set(receiver.numbers('next')).size).toBe(AFTERWARDS), { timeout: 240_000 });
    expect(receiver.numbers('killed')).toHaveLength(last);
  });
}
