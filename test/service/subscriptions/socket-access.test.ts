import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';

import { EVENTUALLY } from '../../eventually.js';
import { command, makeClientFolder } from '../auth.js';
import { startKiln, type KilnProcess } from '../kiln-process.js';
import { subscription, topic, TOPIC_URL } from './server.js';
import { bindingOf, connect, type Peer } from './socket-peer.js';

const TYPE = 'application/fhir+json';
const ALL = 'system/*.cruds';

let folder: string;
let files: Awaited<ReturnType<typeof makeClientFolder>>;
let kiln: KilnProcess;
let base = '';
const peers: Peer[] = [];

const store = (): string => `sqlite:${join(folder, 'kiln.db')}`;
async function kilnDoes(...args: string[]): Promise<string> {
  const { code, out, err } = await command(...args, '--store', store());
  expect(code, err).toBe(0);
  return out.trim();
}
const tokenOf = (scope: string): Promise<string> =>
  kilnDoes('token', '--port', new URL(base).port, '--client', 'lab', '--key', files.key, '--scope', scope);

async function send(token: string, method: string, path: string, body?: unknown) {
  const headers = { authorization: `Bearer ${token}`, 'content-type': TYPE };
  const answer = await fetch(`${base}/${path}`, { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) }); // prettier-ignore
  return { status: answer.status, json: (await answer.json()) as any }; // eslint-disable-line @typescript-eslint/no-explicit-any
}
const put = async (token: string, resource: { resourceType: string; id: string; [name: string]: unknown }) =>
  expect([200, 201]).toContain((await send(token, 'PUT', `${resource.resourceType}/${resource.id}`, resource)).status);

async function bind(token: string): Promise<Peer> {
  const { status, json } = await send(token, 'POST', 'Subscription/s/$get-ws-binding-token');
  expect(status, JSON.stringify(json)).toBe(200);
  const { token: binding, url } = bindingOf(json);
  const peer = await connect(url, binding);
  peers.push(peer);
  return peer;
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'kiln-socket-access-'));
  files = await makeClientFolder();
  kiln = startKiln([
    'serve',
    '--port',
    '0',
    '--auth',
    'smart',
    '--store',
    store(),
    '--subscriptions-websocket',
    'true',
  ]);
  base = await kiln.started;
  await kilnDoes('client', 'add', '--id', 'lab', '--scope', ALL, '--jwks', files.jwks);
  const lab = await tokenOf(ALL);
  await put(lab, topic('patients', TOPIC_URL, { resource: 'Patient' }));
  const { endpoint: _endpoint, ...rest } = subscription('s', '');
  await put(lab, { ...rest, channelType: { code: 'websocket' } });
}, 120_000);
afterAll(async () => {
  for (const { socket } of peers) socket.terminate();
  kiln.child.kill('SIGTERM');
  await kiln.ended;
  for (const each of [folder, files.folder]) rmSync(each, { recursive: true });
  expect(kiln.output.err).not.toMatch(/Error:|defect|Warning/);
});

it('another client gets no token for a Subscription that it may read', async () => {
  const other = await kilnDoes('token', '--port', new URL(base).port);
  expect((await send(other, 'GET', 'Subscription/s')).status).toBe(200);
  expect((await send(other, 'POST', 'Subscription/s/$get-ws-binding-token')).status).toBe(403);
  expect((await send(other, 'POST', 'Subscription/$get-ws-binding-token')).status).toBe(422);
  expect((await send(await tokenOf('system/Patient.rs'), 'POST', 'Subscription/s/$get-ws-binding-token')).status).toBe(403); // prettier-ignore
});

it('a socket shows what its token shows, and the rest keeps number and time', async () => {
  const lab = await tokenOf(ALL);
  const peer = await bind(await tokenOf('system/Subscription.rs system/Patient.rs?gender=female'));
  await put(lab, { resourceType: 'Patient', id: 'm', gender: 'male' });
  await put(lab, { resourceType: 'Patient', id: 'f', gender: 'female' });
  await vi.waitFor(() => expect(peer.numbers('s')).toEqual([1, 2]), EVENTUALLY);
  const foci = peer.statuses().flatMap(({ notificationEvent = [] }) => notificationEvent.map(({ focus }) => focus?.reference)); // prettier-ignore
  expect(foci).toEqual([undefined, `${base}/Patient/f`]);
});

it('a token without a type of the topic ends the socket with 4403', async () => {
  const peer = await bind(await tokenOf('system/Subscription.rs'));
  expect(await peer.closed).toBe(4403);
  expect(peer.received).toEqual([]);
});

it('the socket of a client that is disabled ends with 4403 before anything is sent; its events wait', async () => {
  const lab = await tokenOf(ALL);
  const peer = await bind(lab);
  await vi.waitFor(() => expect(peer.statuses()).toHaveLength(1), EVENTUALLY);
  const other = await kilnDoes('token', '--port', new URL(base).port);
  await kilnDoes('client', 'disable', '--id', 'lab');
  await new Promise((resolve) => setTimeout(resolve, 2500));
  await put(other, { resourceType: 'Patient', id: 'later' });
  expect(await peer.closed).toBe(4403);
  expect(peer.statuses()).toHaveLength(1);
  await kilnDoes('client', 'enable', '--id', 'lab');
  const token = await vi.waitFor(() => tokenOf(ALL), EVENTUALLY);
  const again = await bind(token);
  await vi.waitFor(() => expect(again.numbers('s')).toEqual([3]), EVENTUALLY);
});
