import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';

import { EVENTUALLY } from '../../eventually.js';
import { command, makeClientFolder } from '../auth.js';
import { startKiln, type KilnProcess } from '../kiln-process.js';
import { startReceiver, type Receiver } from './receiver.js';
import { subscription, topic, TOPIC_URL } from './server.js';

let folder: string;
let files: Awaited<ReturnType<typeof makeClientFolder>>;
let receiver: Receiver;
let kiln: KilnProcess;
let base = '';

const store = (): string => `sqlite:${join(folder, 'kiln.db')}`;
async function kilnDoes(...args: string[]): Promise<string> {
  const { code, out, err } = await command(...args, '--store', store());
  expect(code, err).toBe(0);
  return out.trim();
}
const tokenOf = (scope: string, ...client: string[]): Promise<string> =>
  kilnDoes('token', '--port', new URL(base).port, '--scope', scope, ...client);

async function put(token: string, resource: { resourceType: string; id: string; [name: string]: unknown }) {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/fhir+json' };
  const { status } = await fetch(`${base}/${resource.resourceType}/${resource.id}`, { method: 'PUT', headers, body: JSON.stringify(resource) }); // prettier-ignore
  expect([200, 201]).toContain(status);
}

async function page(token: string | undefined, method = 'GET', path = '', site = 'same-origin') {
  const headers = {
    accept: 'text/html',
    'sec-fetch-site': site,
    ...(token !== undefined && { authorization: `Bearer ${token}` }),
  };
  const answer = await fetch(`${base.replace(/\/fhir$/, '')}/ui/subscriptions${path}`, { method, headers, redirect: 'manual' }); // prettier-ignore
  return { status: answer.status, text: await answer.text(), location: answer.headers.get('location') };
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'kiln-subscriptions-page-'));
  files = await makeClientFolder();
  receiver = await startReceiver();
  kiln = startKiln([
    'serve',
    '--port',
    '0',
    '--auth',
    'smart',
    '--store',
    store(),
    '--subscriptions-allow',
    '127.0.0.1',
  ]);
  base = await kiln.started;
  await kilnDoes('client', 'add', '--id', 'lab', '--scope', 'system/*.cruds', '--jwks', files.jwks);
  const lab = await tokenOf('system/*.cruds', '--client', 'lab', '--key', files.key);
  await put(lab, topic('patients', TOPIC_URL, { resource: 'Patient' }));
  receiver.answer = () => 500;
  await put(lab, subscription('s', receiver.url, { name: '<script>x</script>' }));
  await put(lab, { resourceType: 'Patient', id: 'p' });
}, 120_000);
afterAll(async () => {
  kiln.child.kill('SIGTERM');
  await kiln.ended;
  await receiver.close();
  for (const each of [folder, files.folder]) rmSync(each, { recursive: true });
});

it('shows state, what waits and what failed last, to tokens that may ask for the state', async () => {
  expect((await page(undefined)).status).toBe(401);
  expect((await page(await tokenOf('system/Patient.rs system/Subscription.r'))).status).toBe(403);
  const token = await tokenOf('system/Subscription.rs');
  await vi.waitFor(async () => expect((await page(token)).text).toContain('the receiver answered 500'), EVENTUALLY);
  const { status, text } = await page(token);
  expect(status).toBe(200);
  expect(text).toContain('<span class="badge">error</span><br>rest-hook');
  expect(text).toMatch(/<a href="[^"]*\/Subscription\/s\/\$events">1<\/a><\/td><td>1<\/td>/);
  expect(text).not.toContain('<script>x');
  expect(text).not.toContain('Send again');
  expect((await page(await tokenOf('system/Subscription.rs?status=off'))).text).toContain('There are no Subscriptions');
});

it('has the handshake sent again, with the rights that the Subscription had', async () => {
  for (const scope of ['system/Subscription.rs', 'system/Subscription.rs system/Subscription.u?status=off']) {
    expect((await page(await tokenOf(scope), 'POST', '/s')).status, scope).toBe(403);
  }
  const token = await tokenOf('system/Subscription.rus');
  expect((await page(token, 'POST', '/none')).status).toBe(404);
  expect((await page(token)).text).toContain('Send again');
  expect((await page(token, 'POST', '/s', 'cross-site')).status).toBe(403);
  receiver.answer = () => 200;
  const before = receiver.received.length;
  const pressed = await page(token, 'POST', '/s');
  expect([pressed.status, pressed.location]).toEqual([303, '/ui/subscriptions']);
  await vi.waitFor(() => expect(receiver.numbers('s')).toEqual([1]), EVENTUALLY);
  const since = receiver.received.slice(before).filter(({ status }) => status === 200);
  expect(JSON.parse(since[0]!.text).entry[0].resource.type).toBe('handshake');
  await vi.waitFor(async () => expect((await page(token)).text).toContain('<span class="badge">active</span>'), EVENTUALLY); // prettier-ignore
  expect(await kilnDoes('subscriptions', 'list')).toContain('lab');
  await put(token, { ...subscription('s', receiver.url), status: 'off' });
  expect((await page(token, 'POST', '/s')).status).toBe(422);
});
