import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { compactVerify, createRemoteJWKSet } from 'jose';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';

import { EVENTUALLY } from '../../eventually.js';
import { command, statusOf as statusWith } from '../auth.js';
import { startKiln, type KilnProcess } from '../kiln-process.js';
import { startReceiver, statusOf, type Receiver } from './receiver.js';
import { subscription, topic, TOPIC_URL } from './server.js';

let folder: string;
let receiver: Receiver;
let kiln: KilnProcess;
let base = '';
const args = (auth: string) => ['serve', '--port', '0', '--auth', auth, '--store', `sqlite:${join(folder, 'kiln.db')}`, '--subscriptions-sign', 'true', '--subscriptions-allow', '127.0.0.1']; // prettier-ignore

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'kiln-signed-'));
  receiver = await startReceiver();
  kiln = startKiln(args('smart'));
  base = await kiln.started;
}, 120_000);
afterAll(async () => {
  kiln.child.kill('SIGTERM');
  await kiln.ended;
  await receiver.close();
  rmSync(folder, { recursive: true });
});

it('each notification has a signature over its body that a receiver verifies by the published keys', async () => {
  const { out } = await command('token', '--port', new URL(base).port, '--store', `sqlite:${join(folder, 'kiln.db')}`);
  const headers = { authorization: `Bearer ${out.trim()}`, 'content-type': 'application/fhir+json' };
  const put = async (resource: { resourceType: string; id: string }): Promise<number> => {
    const body = JSON.stringify(resource);
    return (await fetch(`${base}/${resource.resourceType}/${resource.id}`, { method: 'PUT', headers, body })).status;
  };
  expect(await put(topic('patients', TOPIC_URL, { resource: 'Patient' }))).toBe(201);
  const own = { parameter: [{ name: 'X-Kiln-Signature', value: 'x' }] };
  expect(await put(subscription('own', receiver.url, own))).toBe(422);
  expect(await put(subscription('s', receiver.url, { content: 'full-resource' }))).toBe(201);
  const named = { resourceType: 'Patient', id: 'p', name: [{ family: 'Łukasiewicz' }] };
  expect(await put(named)).toBe(201);
  await vi.waitFor(() => expect(receiver.numbers('s')).toEqual([1]), EVENTUALLY);
  const keys = createRemoteJWKSet(new URL('/auth/jwks.json', base));
  expect(receiver.received.length).toBeGreaterThanOrEqual(2);
  for (const { headers: sent, text } of receiver.received) {
    const [header, payload, signature] = String(sent['x-kiln-signature']).split('.');
    expect(payload).toBe('');
    const jwsOf = (body: string): string => `${header}.${Buffer.from(body).toString('base64url')}.${signature}`;
    const { protectedHeader } = await compactVerify(jwsOf(text), keys, { algorithms: ['ES384'] });
    expect(protectedHeader).toMatchObject({ alg: 'ES384', typ: 'kiln-notification+jws' });
    await expect(compactVerify(jwsOf(`${text} `), keys)).rejects.toThrow('signature verification failed');
    // What is signed so is no access token.
    expect(await statusWith(base, jwsOf(text))).toBe(401);
  }
  expect(statusOf(receiver.received.at(-1)!.text).notificationEvent).toHaveLength(1);
});

it('needs the authorization server, which has the key', async () => {
  const open = startKiln(args('open'));
  expect(await open.ended).not.toBe(0);
  expect(open.output.err).toContain('subscriptions.sign needs the authorization server');
});
