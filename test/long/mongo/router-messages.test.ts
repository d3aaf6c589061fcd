import { afterAll, beforeAll, expect, it } from 'vitest';

import { readConfig } from '../../../runtime/config/read-config.js';
import { SILENT } from '../../../runtime/observe/log.js';
import { startServer, type RunningServer } from '../../../runtime/start-server.js';
import { KINDS, messages } from '../../../scripts/simulate-shards.mjs';
import { startCluster, type TestCluster } from '../../mongod/router/cluster.js';

const SHARDS = 3;
const EACH = 30;

let cluster: TestCluster;
let server: RunningServer;
beforeAll(async () => {
  cluster = await startCluster(SHARDS);
  const settings = { port: '0', auth: 'open', 'audit-sink': 'off', store: cluster.router.url };
  server = await startServer(readConfig(settings, {}).config, SILENT);
  for (let i = 0; i < EACH; i++) await put(i, 0);
}, 180_000);
afterAll(async () => {
  await server.close();
  await cluster.stop();
});

const send = async (method: string, path: string, body?: object): Promise<void> => {
  const headers = { 'content-type': 'application/fhir+json' };
  const answer = await fetch(`${server.url}/${path}`, { method, headers, ...(body && { body: JSON.stringify(body) }) });
  expect(answer.status, await answer.text()).toBeLessThan(300);
};
const patient = (i: number, n: number) => ({
  resourceType: 'Patient',
  id: `p${i}`,
  active: n % 2 === 0,
  identifier: [{ system: 'urn:s', value: `v${i}` }],
});
const put = (i: number, n: number): Promise<void> => send('PUT', `Patient/p${i}`, patient(i, n));

/** Messages between the router and the shards for commands of data, by request. */
async function messagesOf(ask: (i: number) => Promise<void>): Promise<number> {
  const before = new Map(cluster.router.sent);
  for (let i = 0; i < EACH; i++) await ask(i);
  let sum = 0;
  for (const [name, count] of cluster.router.sent) {
    const [command = '', shards] = name.split(' ');
    if (['find', 'insert', 'update', 'aggregate', 'delete'].includes(command))
      sum += (count - (before.get(name) ?? 0)) * Number(shards);
  }
  return sum / EACH;
}

it('a router sends as many messages as the simulator counts, or fewer', { timeout: 120_000 }, async () => {
  const found = {
    read: await messagesOf((i) => send('GET', `Patient/p${i}`)),
    create: await messagesOf((i) => send('POST', 'Patient', { resourceType: 'Patient', active: i % 2 === 0 })),
    update: await messagesOf((i) => put(i, 1)),
    identifier: await messagesOf((i) => send('GET', `Patient?identifier=urn:s|v${i}`)),
    history: await messagesOf((i) => send('GET', `Patient/p${i}/_history`)),
  };
  const counted = Object.fromEntries(
    Object.keys(found).map((kind) => [kind, messages(KINDS[kind as keyof typeof found], SHARDS)]),
  );
  for (const [kind, count] of Object.entries(found)) {
    // Jobs and clean-ups in the background ask now and then. Of some commands the simulator takes more shards than are asked.
    expect(count, kind).toBeGreaterThanOrEqual(counted[kind]! * 0.6);
    expect(count, kind).toBeLessThanOrEqual(counted[kind]! * 1.2);
  }
});
