import { readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';

import type { Jwk } from '../../runtime/auth/jwks/jwk.js';
import { tokenForm } from '../../runtime/auth/server/client-assertion.js';
import { EVENTUALLY } from '../eventually.js';
import { command, makeClientFolder, statusOf as status } from './auth.js';
import { startKiln, type KilnProcess } from './kiln-process.js';

/** What the test looks at of an event. */
interface AuditLine {
  readonly code: { readonly coding: readonly [{ readonly code: string }] };
  readonly outcome: { readonly code: { readonly code: string } };
  readonly entity?: readonly { readonly what?: { readonly reference?: string }; readonly query?: string }[];
}

/** Under which clients know them both. */
const ROOT = 'http://localhost:8080';

/**
 * Two processes with authorization are one server: what one of them gives, takes away or has seen the other knows.
 *
 * @param makeStore given a folder for files
 * @param audit `file`: in the folder
 */
export function twoProcesses(makeStore: (folder: string) => string, audit: 'file' | 'off'): void {
  let files: Awaited<ReturnType<typeof makeClientFolder>>;
  let store: string;
  let servers: KilnProcess[];
  let bases: string[];

  const start = () =>
    startKiln(['serve', '--auth', 'smart', '--port', '0', '--store', store, '--base-url', ROOT, '--audit-sink', audit]);
  const client = (...args: string[]) => command('client', ...args, '--store', store);
  const post = (base: string, path: string, body: string) =>
    fetch(new URL(path, base), {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body,
    });

  /** A form with an assertion of its own, for the server that all processes are. */
  const form = (scope = 'system/Patient.rs') => {
    const key = JSON.parse(readFileSync(files.key, 'utf8')) as Jwk;
    return tokenForm({ clientId: 'lab', key, audience: `${ROOT}/auth/token`, scope }, Date.now());
  };
  /** Waits until all processes say so of a token. */
  const settle = (token: string, wanted: number) =>
    vi.waitFor(async () => {
      expect(await Promise.all(bases.map((base) => status(base, token)))).toEqual(bases.map(() => wanted));
    }, EVENTUALLY);
  const getToken = async (base: string) => {
    const answer = (await (await post(base, '/auth/token', await form())).json()) as { access_token: string };
    return answer.access_token;
  };

  beforeAll(async () => {
    files = await makeClientFolder();
    store = makeStore(files.folder);
    const added = await client('add', '--id', 'lab', '--scope', 'system/Patient.rs', '--jwks', files.jwks);
    expect(added).toMatchObject({ code: 0, out: 'lab is registered' });
    servers = [start(), start()];
    bases = await Promise.all(servers.map(({ started }) => started));
  }, 120_000);
  afterAll(async () => {
    for (const { child } of servers) child.kill('SIGTERM');
    expect(await Promise.all(servers.map(({ ended }) => ended))).toEqual([0, 0]);
    rmSync(files.folder, { recursive: true });
  });

  it('they say where they listen, and under which URL clients know them', () => {
    const told = servers.map(({ output }) => output.out.trim());
    expect(told).toEqual(bases.map((base) => `Kiln serves FHIR R5 at ${base} (for clients: ${ROOT}/fhir)`));
  });

  it('one gives a token, the other takes it; without there is nothing', async () => {
    const token = await getToken(bases[0]!);
    expect(await Promise.all(bases.map((base) => status(base, token)))).toEqual([200, 200]);
    expect(await status(bases[1]!, token, '/Observation')).toBe(403);
    expect(await status(bases[1]!, `${token.slice(0, -4)}AAAA`)).toBe(401);
    expect((await fetch(`${bases[1]}/Patient`)).status).toBe(401);
  });

  it('an assertion that is posted fifty times at once gives one token', async () => {
    const body = await form();
    const answers = await Promise.all(
      Array.from({ length: 50 }, async (_, i) => {
        const answer = await post(bases[i % 2]!, '/auth/token', body);
        return `${answer.status} ${((await answer.json()) as { error?: string }).error ?? 'token'}`;
      }),
    );
    expect(answers.filter((each) => each === '200 token')).toHaveLength(1);
    expect(answers.filter((each) => each === '401 invalid_client')).toHaveLength(49);
  });

  // Within two seconds, by the clock of `unit/auth/server/server-store.test.ts`.
  it('what one of them or a command changes all honour', async () => {
    const [one = '', other = ''] = bases;
    const revoked = await getToken(one);
    expect(await status(other, revoked)).toBe(200);
    expect((await post(one, '/auth/revoke', `${await form()}&token=${revoked}`)).status).toBe(200);
    expect(await status(one, revoked)).toBe(401);
    await settle(revoked, 401);

    const token = await getToken(one);
    expect([await status(one, token), await status(other, token)]).toEqual([200, 200]);
    expect((await client('disable', '--id', 'lab')).code).toBe(0);
    await settle(token, 401);
    expect((await post(one, '/auth/token', await form())).status).toBe(401);
    expect((await client('enable', '--id', 'lab')).code).toBe(0);
    await settle(token, 200);

    // A new key is published before it signs; one for a compromised one signs at once, and the old one is gone.
    const keysOf = async (base: string) =>
      ((await (await fetch(new URL('/auth/jwks.json', base))).json()) as { keys: { kid: string }[] }).keys;
    expect((await command('keys', 'rotate', '--store', store)).out).toContain('is published; it signs from ');
    await vi.waitFor(async () => {
      expect([(await keysOf(one)).length, (await keysOf(other)).length]).toEqual([2, 2]);
    }, EVENTUALLY);
    expect(await status(other, token)).toBe(200);
    expect((await command('keys', 'rotate', '--compromised', '--store', store)).out).toContain('signs from now on');
    await settle(token, 401);
    expect(await status(other, await getToken(one))).toBe(200);
    expect(await keysOf(other)).toHaveLength(1);
  });

  // Where it is a file of theirs.
  if (audit !== 'file') return;
  it('who did what is in the audit, and no token or assertion', async () => {
    const token = await getToken(bases[0]!);
    const headers = { authorization: `Bearer ${token}` };
    await fetch(`${bases[0]}/Patient?family=lovelace`, { headers });
    await fetch(`${bases[0]}/Patient/nobody?access_token=${token}`);
    const batch = {
      resourceType: 'Bundle',
      type: 'batch',
      entry: [{ request: { method: 'GET', url: 'Patient/ada' } }],
    };
    const json = { ...headers, 'content-type': 'application/fhir+json' };
    await fetch(bases[0]!, { method: 'POST', headers: json, body: JSON.stringify(batch) });
    const file = join(files.folder, 'audit.ndjson');
    const events = await vi.waitFor(() => {
      const lines = readFileSync(file, 'utf8').trim().split('\n');
      const told = lines.map((line) => {
        const { code, outcome, entity = [] } = JSON.parse(line) as AuditLine;
        const query = entity.flatMap(({ query }) => (query === undefined ? [] : atob(query)))[0] ?? '';
        return `${code.coding[0].code} ${outcome.code.code} ${entity[0]?.what?.reference ?? query}`;
      });
      expect(told).toContain('read 4 Patient/ada');
      return told;
    }, EVENTUALLY);
    expect(events.some((told) => told.startsWith('ITI-71 0 POST /auth/token grant_type=client_credentials'))).toBe(
      true,
    );
    expect(events).toContain('search 0 Patient?family=lovelace');
    // Refused at once, and still told.
    expect(events).toContain('read 4 Patient/nobody?access_token=***');
    const text = readFileSync(file, 'utf8');
    expect(text).not.toContain(token);
    expect(text).not.toContain('eyJ');
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });
}
