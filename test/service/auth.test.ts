import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';

import { command, freePort, makeClientFolder, SOON, statusOf as status } from './auth.js';
import { startKiln } from './kiln-process.js';
import { twoProcesses } from './two-processes.js';

const TIMES = { timeout: 120_000 };

let files: Awaited<ReturnType<typeof makeClientFolder>>;
let store: string;
const client = (...args: string[]) => command('client', ...args, '--store', store);

describe('two processes with authorization on one SQLite file', TIMES, () => {
  twoProcesses((folder) => `sqlite:${join(folder, 'kiln.db')}`, 'file');
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
      const { code, out: token } = await command('token', '--wait', '60s', ...local);
      const base = await server.started;
      expect(code).toBe(0);
      // The start line and the 401 say how it is got.
      const told = `npx kiln token --port ${port} --store ${where[1]}`;
      expect(server.output.out).toContain(`(for a token: ${told})`);
      const refused = await fetch(`${base}/Patient/ada`);
      expect([refused.status, await refused.text()]).toEqual([401, expect.stringContaining(`; for one: ${told}`)]);
      expect(refused.headers.get('www-authenticate')).toBe('Bearer realm="fhir"');
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
      const asClient = ['--url', base, '--client', 'writer', '--key', key];
      await command('client', 'add', '--id', 'writer', '--scope', 'system/Patient.u', ...jwks, ...where);
      // Within the second of its creation nobody can tell whether it is new.
      expect((await command('load', file, ...asClient)).out).toMatch(/^1 resources .*: 0 created, .*; 0 failed/m);

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

describe('a server that is for others, on the store of one that is not', TIMES, () => {
  it('does not know the development client, which the other registers while it runs', async () => {
    const { folder } = await makeClientFolder();
    const where = ['--store', `sqlite:${join(folder, 'data', 'kiln.db')}`];
    const [port, local] = [String(await freePort()), String(await freePort())];
    const others = [...where, '--port', port, '--base-url', `http://127.0.0.1:${port}`];
    const servers = [startKiln(['serve', '--auth', 'smart', ...others])];
    try {
      await servers[0]!.started;
      servers.push(startKiln(['serve', '--auth', 'smart', ...where, '--port', local]));
      await servers[1]!.started;
      expect(await command('token', ...where, '--port', local)).toMatchObject({ code: 0 });
      const key = join(folder, 'data', 'dev-client.jwk');
      const asked = await command('token', '--client', 'dev-client', '--key', key, ...others);
      expect(asked).toMatchObject({ code: 1, out: '', err: expect.stringContaining('invalid_client') });
    } finally {
      for (const server of servers) {
        server.child.kill('SIGTERM');
        expect(await server.ended).toBe(0);
      }
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
      err:
        `kiln: new store at ${store.slice('sqlite:'.length)}\n` +
        'kiln: of its scope system/Nothing.r names no resource type',
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

  it('kiln token fails at once where nothing listens, and says how to wait for it: it took 16 s', async () => {
    const port = String(await freePort());
    const requests = vi.spyOn(globalThis, 'fetch');
    const asked = await command('token', '--client', 'lab', '--key', files.key, '--port', port);
    expect(requests).toHaveBeenCalledTimes(1);
    requests.mockRestore();
    expect(asked).toEqual({
      code: 1,
      out: '',
      err: expect.stringMatching(
        /^kiln: nothing answers at http:\/\/127.0.0.1:\d+\/auth\/token .* --wait 10s waits .*$/,
      ),
    });
    expect(await command('token', '--store', 'sqlite:/nowhere/kiln.db')).toMatchObject({
      code: 1,
      err: expect.stringContaining('there is no such file; the first start of the server makes it'),
    });
    expect(await command('token', '--wait', 'long')).toMatchObject({
      code: 2,
      err: expect.stringContaining('--wait "long": has to be a time from'),
    });
  });

  it('kiln token --wait says what it waits for, once', async () => {
    const port = String(await freePort());
    const { code, err } = await command(
      'token',
      '--wait',
      '1600ms',
      '--client',
      'lab',
      '--key',
      files.key,
      '--port',
      port,
    );
    expect([code, ...err.split('\n')]).toEqual([
      1,
      `kiln: waiting for an answer of http://127.0.0.1:${port}/auth/token`,
      expect.stringContaining('nothing answers at'),
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
