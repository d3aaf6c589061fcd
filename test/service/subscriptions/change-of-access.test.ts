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

const serve = (auth: string, ...more: readonly string[]): KilnProcess =>
  startKiln(['serve', '--port', '0', '--auth', auth, '--store', storeOf(), '--subscriptions-allow', '127.0.0.1', ...more]); // prettier-ignore
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

it('one batch does not pass the limit of a client, nor a transaction', { timeout: 120_000 }, async () => {
  await stop();
  kiln = serve('smart', '--subscriptions-per-client', '3');
  const base = await kiln.started;
  const { out: token } = await command('token', '--port', new URL(base).port, '--store', storeOf());
  const headers = { authorization: `Bearer ${token.trim()}`, 'content-type': 'application/fhir+json' };
  const send = async (type: string, count: number) => {
    const { id: _id, ...resource } = subscription('any', receiver.url);
    const entry = Array.from({ length: count }, () => ({ resource, request: { method: 'POST', url: 'Subscription' } }));
    const body = JSON.stringify({ resourceType: 'Bundle', type, entry });
    const answer = await fetch(base, { method: 'POST', headers, body });
    const { entry: entries = [] } = (await answer.json()) as { entry?: readonly { response: { status: string } }[] };
    return {
      status: answer.status,
      created: entries.filter(({ response }) => response.status.startsWith('201')).length,
    };
  };
  expect(await send('batch', 5)).toEqual({ status: 200, created: 3 });
  expect(await send('transaction', 2)).toEqual({ status: 422, created: 0 });
});
