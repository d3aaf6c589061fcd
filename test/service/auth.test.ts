import { readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';

import type { Jwk } from '../../runtime/auth/jwks/jwk.js';
import { tokenForm } from '../../runtime/auth/server/client-assertion.js';
import { runToken } from '../../runtime/cli/token.js';
import { command, freePort, makeClientFolder } from './auth.js';
import { startKiln, type KilnProcess } from './kiln-process.js';

/** Within which every process honours a change. decisions.md, "verified tokens" */
const SOON = { timeout: 2000, interval: 50 };
const TIMES = { timeout: 120_000 };

/** What the test looks at of an event. */
interface AuditLine {
  readonly code: { readonly coding: readonly [{ readonly code: string }] };
  readonly outcome: { readonly code: { readonly code: string } };
  readonly entity?: readonly { readonly what?: { readonly reference?: string }; readonly query?: string }[];
}

let files: Awaited<ReturnType<typeof makeClientFolder>>;
let store: string;
let servers: KilnProcess[];
let bases: string[];
/** Under which clients know them both. */
const ROOT = 'http://localhost:8080';

const start = (...args: string[]) => startKiln(['serve', '--auth', 'smart', '--port', '0', '--store', store, ...args]);
const client = (...args: string[]) => command('client', ...args, '--store', store);
const status = async (base: string, token: string, path = '/Patient') => {
  const answer = await fetch(`${base}${path}`, { headers: { authorization: `Bearer ${token}` } });
  await answer.arrayBuffer();
  return answer.status;
};
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
  }, SOON);
const getToken = async (base: string) => {
  const answer = (await (await post(base, '/auth/token', await form())).json()) as { access_token: string };
  return answer.access_token;
};

describe('two processes with authorization on one store', TIMES, () => {
  beforeAll(async () => {
    files = await makeClientFolder();
    store = `sqlite:${join(files.folder, 'kiln.db')}`;
    const added = await client('add', '--id', 'lab', '--scope', 'system/Patient.rs', '--jwks', files.jwks);
    expect(added).toEqual({ code: 0, out: 'lab is registered', err: '' });
    servers = [start('--base-url', ROOT), start('--base-url', ROOT)];
    bases = await Promise.all(servers.map(({ started }) => started));
  }, 120_000);
  afterAll(async () => {
    for (const { child } of servers) child.kill('SIGTERM');
    expect(await Promise.all(servers.map(({ ended }) => ended))).toEqual([0, 0]);
    rmSync(files.folder, { recursive: true });
  });

  it('one gives a token, the other takes it; without there is nothing', async () => {
    const token = await getToken(bases[0]!);
    expect(await Promise.all(bases.map((base) => status(base, token)))).toEqual([200, 200]);
    expect(await status(bases[1]!, token, '/Observation')).toBe(403);
    expect(await status(bases[1]!, `${token.slice(0, -4)}AAAA`)).toBe(401);
    expect((await fetch(`${bases[1]}/Patient`)).status).toBe(401);
  });

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
    }, SOON);
    expect(events.some((told) => told.startsWith('ITI-71 0 POST /auth/token grant_type=client_credentials'))).toBe(
      true,
    );
    expect(events).toContain('search 0 Patient?family=lovelace');
    // Refused at once, and still told.
    expect(events).toContain('read 4 Patient/nobody');
    const text = readFileSync(file, 'utf8');
    expect(text).not.toContain(token);
    expect(text).not.toContain('eyJ');
    expect(statSync(file).mode & 0o777).toBe(0o600);
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

  it('what one of them or a command changes all honour within two seconds', async () => {
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
    }, SOON);
    expect(await status(other, token)).toBe(200);
    expect((await command('keys', 'rotate', '--compromised', '--store', store)).out).toContain('signs from now on');
    await settle(token, 401);
    expect(await status(other, await getToken(one))).toBe(200);
    expect(await keysOf(other)).toHaveLength(1);
  });
});

describe('kiln serve with authorization, from the first start on', TIMES, () => {
  it('start, token, request', async () => {
    const { folder, key } = await makeClientFolder();
    const where = ['--store', `sqlite:${join(folder, 'data', 'kiln.db')}`];
    // All at once, as they are pasted: the command waits for a server that starts.
    const port = String(await freePort());
    const local = [...where, '--port', port];
    const server = startKiln(['serve', '--auth', 'smart', ...local]);
    try {
      const { code, out: token } = await command('token', ...local);
      const base = await server.started;
      expect(code).toBe(0);
      const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/fhir+json' };
      const body = JSON.stringify({ resourceType: 'Patient', id: 'ada' });
      expect((await fetch(`${base}/Patient/ada`, { method: 'PUT', headers, body })).status).toBe(201);
      expect((await fetch(`${base}/Patient/ada`, { headers })).status).toBe(200);
      expect((await fetch(`${base}/metadata`)).status).toBe(200);

      // As a real client: what it asks for beyond its registration it does not get.
      const jwks = ['--jwks', join(folder, 'lab-jwks.json')];
      await command('client', 'add', '--id', 'lab', '--scope', 'system/Patient.r', ...jwks, ...where);
      const lab = await command('token', '--client', 'lab', '--key', key, ...local);
      expect(await status(base, lab.out, '/Patient/ada')).toBe(200);
      expect(await status(base, lab.out)).toBe(403);

      const load = ['load', '-', '--url', base, '--token', token];
      const file = join(folder, 'bob.json');
      writeFileSync(file, JSON.stringify({ resourceType: 'Patient', id: 'bob' }));
      expect((await command('load', file, ...load.slice(2))).out).toContain('1 created');

      await command('client', 'disable', '--id', 'dev-client', ...where);
      await vi.waitFor(async () => {
        expect(await command('token', ...local)).toMatchObject({
          code: 1,
          err: expect.stringContaining('invalid_client'),
        });
      }, SOON);
    } finally {
      server.child.kill('SIGTERM');
      expect(await server.ended).toBe(0);
      rmSync(folder, { recursive: true });
    }
  });
});

describe('the commands about clients and tokens', TIMES, () => {
  beforeAll(async () => {
    files = await makeClientFolder();
    store = `sqlite:${join(files.folder, 'kiln.db')}`;
  });
  afterAll(() => rmSync(files.folder, { recursive: true }));

  it('need a store, but for the first client', async () => {
    for (const args of [['list'], ['enable', '--id', 'lab']]) {
      expect(await client(...args)).toMatchObject({ code: 1, err: `kiln: there is no store at ${store}` });
    }
    const add = ['add', '--id', 'lab', '--scope', 'system/Patient.rs system/Nothing.r', '--jwks', files.jwks];
    expect(await client(...add)).toEqual({
      code: 0,
      out: 'lab is registered',
      err: 'kiln: of its scope this means nothing here: system/Nothing.r',
    });
    expect(await client(...add)).toMatchObject({ code: 1, err: expect.stringContaining('--replace') });
    expect(await client(...add, '--replace', '--lifetime', '60', '--dialect', 'v1')).toMatchObject({ code: 0 });
    const [lab] = JSON.parse((await client('list', '--json')).out) as [object];
    expect(lab).toMatchObject({ id: 'lab', dialect: 'v1', lifetime: 60, enabled: true });
    expect((await client('list')).out).toMatch(
      /^lab {2}enabled {2}system\/Patient.rs system\/Nothing.r {2}v1 {2}keys: /,
    );
  });

  it.each<[string[], number, string]>([
    [['--jwks', 'KEY'], 1, 'The JWKS is not an object'],
    [['--jwks', 'PRIVATE'], 1, 'holds a private member ("d")'],
    [['--jwks', 'SYMMETRIC'], 1, 'is symmetric'],
    [['--jwks', 'TEXT'], 1, 'is not JSON'],
    [['--jwks', '/nowhere'], 2, 'there is no such file'],
    [[], 2, 'give either --jwks or --jwks-url'],
    [['--jwks', 'PRIVATE', '--jwks-url', 'https://lab.example/jwks'], 2, 'give either --jwks or --jwks-url'],
    [['--jwks-url', 'http://lab.example/jwks'], 1, 'is not https'],
    [['--jwks-url', 'https://lab.example/jwks', '--lifetime', '301'], 1, '1 to 300 seconds'],
    [['--jwks-url', 'https://lab.example/jwks', '--dialect', 'v3'], 1, 'v2, v1 or eu-0.1'],
    [['--jwks-url', 'https://lab.example/jwks', '--scope', 'openid'], 1, 'Nothing in the scope'],
    [['--jwks-url', 'https://lab.example/jwks', '--id', 'dev-client'], 1, 'is the development client'],
  ])('refuse %j with exit code %i, in one line', async (args, code, message) => {
    const key = readFileSync(files.key, 'utf8');
    const contents: Record<string, string> = {
      KEY: key,
      PRIVATE: `{"keys":[${key}]}`,
      SYMMETRIC: '{"keys":[{"kty":"oct","k":"c2VjcmV0","kid":"k"}]}',
      TEXT: 'keys',
    };
    for (const [name, content] of Object.entries(contents)) writeFileSync(join(files.folder, name), content);
    const paths = args.map((arg) => (arg in contents ? join(files.folder, arg) : arg));
    const result = await client('add', '--id', 'other', '--scope', 'system/Patient.rs', ...paths);
    expect([result.code, result.out]).toEqual([code, '']);
    expect(result.err).toContain(message);
    expect(result.err).not.toMatch(/\n|c2VjcmV0/);
  });

  it('kiln token says what to do where no server ever starts', async () => {
    const err: string[] = [];
    const terminal = { out: () => {}, err: (line: string) => void err.push(line), env: {} };
    expect(await runToken({}, { store: 'sqlite:/nowhere/kiln.db' }, terminal, 0)).toBe(1);
    const port = String(await freePort());
    expect(await runToken({ client: 'lab', key: files.key }, { port }, terminal, 0)).toBe(1);
    expect(err).toEqual([
      expect.stringContaining('there is no such file; the first start of the server makes it'),
      expect.stringMatching(/nothing answers at http:\/\/127.0.0.1:\d+\/auth\/token .* is the server started/),
    ]);
  });

  it('kiln token says at once that open mode has no tokens', async () => {
    const { code, err } = await command('token', '--auth', 'open');
    expect(code).toBe(1);
    expect(err).toContain('there are no tokens without authorization');
  });

  it('kiln token says that a set of keys is not the private key', async () => {
    const set = join(files.folder, 'set.json');
    writeFileSync(set, '{"keys":[]}');
    const { code, err } = await command('token', '--client', 'lab', '--key', set);
    expect(code).toBe(2);
    expect(err).toContain('is a set of keys');
  });

  it.each([
    [['--store', 'sqlite::memory:'], 'a memory store has none'],
    [['--store', 'mongodb://h/x'], 'a store in MongoDB has none'],
    [['--base-url', 'https://fhir.example.org'], '--base-url https://fhir.example.org'],
  ])('kiln token %j says why there is no development client', async (args, why) => {
    const { code, out, err } = await command('token', ...args);
    expect([code, out]).toEqual([1, '']);
    expect(err).toContain(why);
  });
});
