import { Agent } from 'node:http';
import { setTimeout } from 'node:timers/promises';

import { clinic } from './data/clinic.js';
import type { Bench, Measured, Row } from './measuring/row.js';
import { cpuOf, processOf } from './measuring/waits.js';
import { startKiln, STORE, type KilnServer } from './servers/kiln-server.js';
import { sender, timesOf, type Send } from './servers/send.js';
import { openReceiver, type BenchReceiver } from './subscriptions/receiver.js';
import { subscribe, TOPIC, topicOf } from './subscriptions/subscribe.js';

/** Connections, each with one request at a time. */
const CLIENTS = 8;
/** How long each server runs before it is measured, and then in turn, in milliseconds. */
const [WARM_UP, TURN, TURNS] = [4000, 500, 15];
/** Until what was committed last is matched, in milliseconds. */
const MATCHED = 300;

/** Active Subscriptions that do not match. */
const IDLE = 100;
/** Topics that they belong to. */
const TOPICS = 10;

/** Notifications one after the other, while nothing else is done. */
const SINGLE = 200;

/** Subscriptions on one topic, each of one of so many Patients, and creates a second for so many seconds. */
const [MANY, RATE, SECONDS] = [1000, 100, 20];

/** A create may cost so much more with Subscriptions that do not match. */
const MORE = STORE === 'SQLite' ? 1.1 : 1.15;

/**
 * What subscriptions cost: a create beside 100 that do not match, against a server without any, in processor time of the server and,
 * with `--store=mongodb://…`, of the database; and how long a receiver waits for a notification. It runs `dist/`.
 */
export const bench: Bench = async () => {
  const receiver = await openReceiver();
  const agent = new Agent({ keepAlive: true, maxSockets: CLIENTS });
  try {
    return [
      ...(await costOfCreates(receiver, agent)),
      await idleDelivery(receiver, agent),
      await manySubscriptions(receiver, agent),
    ];
  } finally {
    agent.destroy();
    await receiver.close();
  }
};

function start(): Promise<KilnServer> {
  return startKiln('.', true, [], ['--subscriptions-allow', '127.0.0.1']);
}

async function costOfCreates(receiver: BenchReceiver, agent: Agent): Promise<Row[]> {
  const observation = JSON.stringify({
    ...[...clinic(200).resources].find(({ resourceType }) => resourceType === 'Observation')!,
    id: undefined,
  });
  const url = process.env['KILN_BENCH_STORE'];
  const database = url === undefined ? undefined : await processOf(url);
  const servers: KilnServer[] = [];
  try {
    for (const type of [undefined, 'Patient', 'Observation']) {
      const server = await start();
      servers.push(server);
      if (type !== undefined) await subscribeIdle(sender(server.base, agent), type, receiver);
    }
    const totals = servers.map(() => ({ count: 0, wallMs: 0, cpuMs: 0 }));
    const usedBy = (pid: number): number => cpuOf(pid) + (database === undefined ? 0 : cpuOf(database));
    for (let turn = 0; turn <= TURNS; turn++) {
      for (let n = 0; n < servers.length; n++) {
        // Another one begins each time: what others do on the machine falls on all alike.
        const i = (turn + n) % servers.length;
        const { base, pid } = servers[i]!;
        const send = sender(base, agent);
        const [before, begun] = [usedBy(pid), performance.now()];
        const create = (): Promise<string> => send('POST', '/Observation', observation);
        const { length } = await timesOf(CLIENTS, create, turn === 0 ? WARM_UP : TURN);
        await setTimeout(MATCHED);
        if (turn === 0) continue;
        totals[i]!.count += length;
        totals[i]!.wallMs += performance.now() - begun - MATCHED;
        totals[i]!.cpuMs += usedBy(pid) - before;
      }
    }
    const [none, other, same] = totals as [Measured, Measured, Measured];
    const row = (of: string, measured: Measured): Row => ({
      name: `${STORE}: create beside ${IDLE} subscriptions to ${of} that do not match`,
      unit: 'creates',
      measured,
      floor: { name: 'without subscriptions', measured: none },
      goal: { ratio: 1 / MORE },
    });
    return [row('another type', other), row('its type', same)];
  } finally {
    for (const server of servers) await server.stop();
  }
}

/** Subscriptions to some topics that nothing fires. */
async function subscribeIdle(send: Send, type: string, receiver: BenchReceiver): Promise<void> {
  for (let i = 0; i < TOPICS; i++) {
    const current = `${type === 'Patient' ? 'gender=other' : 'status=cancelled'}&identifier=http://none.example|${i}`;
    await send('PUT', `/SubscriptionTopic/t${i}`, topicOf(`t${i}`, { resource: type, queryCriteria: { current } }));
  }
  for (let i = 0; i < IDLE; i++) {
    await subscribe(send, `s${i}`, { topic: `${TOPIC}t${i % TOPICS}`, endpoint: receiver.url });
  }
  await receiver.settled(IDLE);
}

/** How long after its write is answered a notification comes, where nothing else is done. */
async function idleDelivery(receiver: BenchReceiver, agent: Agent): Promise<Row> {
  const server = await start();
  try {
    const send = sender(server.base, agent);
    await send('PUT', '/SubscriptionTopic/t', topicOf('t', { resource: 'Patient' }));
    await subscribe(send, 'idle', { topic: `${TOPIC}t`, endpoint: receiver.url });
    await receiver.settled(1);
    const cpu = cpuOf(server.pid);
    for (let i = 0; i < SINGLE; i++) {
      receiver.expect(`Patient/i${i}`, performance.now());
      await send('PUT', `/Patient/i${i}`, JSON.stringify({ resourceType: 'Patient', id: `i${i}` }));
      await receiver.arrived();
      await setTimeout(40);
    }
    const measured = receiver.measured(cpuOf(server.pid) - cpu);
    return { name: `${STORE}: notification, idle server`, unit: 'notifications', measured, goal: { p50: 100 } };
  } finally {
    await server.stop();
  }
}

/** How far notifications are behind where one topic has many Subscriptions, and each write reaches one of them. */
async function manySubscriptions(receiver: BenchReceiver, agent: Agent): Promise<Row> {
  const server = await start();
  try {
    const send = sender(server.base, agent);
    const canFilterBy = [{ filterParameter: 'subject' }];
    await send('PUT', '/SubscriptionTopic/t', topicOf('t', { resource: 'Observation' }, { canFilterBy }));
    for (let i = 0; i < MANY; i++) {
      const filterBy = [{ filterParameter: 'subject', value: `Patient/m${i}` }];
      await subscribe(send, `m${i}`, { topic: `${TOPIC}t`, endpoint: receiver.url, filterBy });
    }
    await receiver.settled(MANY);
    const cpu = cpuOf(server.pid);
    const begun = performance.now();
    const sent: Promise<unknown>[] = [];
    for (let i = 0; i < RATE * SECONDS; i++) {
      await setTimeout(Math.max(0, begun + (i * 1000) / RATE - performance.now()));
      const subject = { reference: `Patient/m${(i * 7919) % MANY}` };
      const body = { resourceType: 'Observation', id: `o${i}`, status: 'final', code: { text: 'x' }, subject };
      receiver.expect(`Observation/o${i}`, performance.now());
      sent.push(send('PUT', `/Observation/o${i}`, JSON.stringify(body)));
    }
    await Promise.all(sent);
    await receiver.arrived();
    const measured = receiver.measured(cpuOf(server.pid) - cpu);
    const name = `${STORE}: notification, ${MANY} subscriptions, ${RATE} writes/s`;
    return { name, unit: 'notifications', measured, goal: { longest: 5000 } };
  } finally {
    await server.stop();
  }
}
