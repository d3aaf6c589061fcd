import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';

import { EVENTUALLY } from '../../eventually.js';
import { command } from '../auth.js';
import { startKiln, type KilnProcess } from '../kiln-process.js';
import { startReceiver, type Receiver } from './receiver.js';
import { clientOf, subscription, topic, TOPIC_URL } from './server.js';

let folder: string;
let receiver: Receiver;
let kiln: KilnProcess | undefined;

const serve = (auth: string): KilnProcess =>
  startKiln(['serve', '--port', '0', '--auth', auth, '--store', storeOf(), '--subscriptions-allow', '127.0.0.1']);
const storeOf = (): string => `sqlite:${join(folder, 'kiln.db')}`;
async function stop(): Promise<void> {
  kiln?.child.kill('SIGTERM');
  await kiln?.ended;
  kiln = undefined;
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'kiln-change-of-access-'));
  receiver = await startReceiver();
});
afterAll(async () => {
  await stop();
  await receiver.close();
  rmSync(folder, { recursive: true });
});

it('a Subscription that nobody owns is sent nothing once authorization is on', { timeout: 120_000 }, async () => {
  kiln = serve('open');
  const base = await kiln.started;
  const open = clientOf(() => base);
  await open.put(topic('patients', TOPIC_URL, { resource: 'Patient' }));
  await open.put(subscription('s', receiver.url));
  await open.put({ resourceType: 'Patient', id: 'before' });
  await vi.waitFor(() => expect(receiver.numbers('s')).toContain(1), EVENTUALLY);
  await stop();

  kiln = serve('smart');
  const guarded = await kiln.started;
  const { out: token } = await command('token', '--port', new URL(guarded).port, '--store', storeOf());
  const headers = { authorization: `Bearer ${token.trim()}`, 'content-type': 'application/fhir+json' };
  const body = JSON.stringify({ resourceType: 'Patient', id: 'after' });
  expect((await fetch(`${guarded}/Patient/after`, { method: 'PUT', headers, body })).status).toBe(201);
  const status = async (): Promise<unknown> =>
    ((await (await fetch(`${guarded}/Subscription/s/$status`, { headers })).json()) as { entry: { resource: unknown }[] }).entry[0]!.resource; // prettier-ignore
  const waiting = { eventsSinceSubscriptionStart: '2', error: [{ coding: [{ code: 'no-access' }] }] };
  await vi.waitFor(async () => expect(await status()).toMatchObject(waiting), EVENTUALLY);
  expect(receiver.numbers('s')).not.toContain(2);
});
