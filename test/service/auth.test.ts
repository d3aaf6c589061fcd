import { createPrivateKey, createPublicKey, generateKeyPairSync, type JsonWebKey, type KeyObject } from 'node:crypto';
import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';

import { EVENTUALLY } from '../eventually.js';
import { command, freePort, makeClientFolder, statusOf as status } from './auth.js';
import { startKiln } from './kiln-process.js';
import { twoProcesses } from './two-processes.js';

const TIMES = { timeout: 120_000 };

let files: Awaited<ReturnType<typeof makeClientFolder>>;
let store: string;
const client = (...args: string[]) => command('client', ...args, '--store', store);

const pemOf = (key: KeyObject): string => key.export({ type: 'spki', format: 'pem' }).toString();

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
      expect([refused.status, await refused.text()]).toEqual([
        401,
        expect.stringContaining(`; for one: npx kiln token --port ${port} --store …`),
      ]);
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
      // Who was refused for want of what.
      const entry = ['Encounter/1', 'Patient/ada'].map((url) => ({ request: { method: 'DELETE', url } }));
      const transaction = await fetch(base, {
        method: 'POST',
        headers: { ...headers, authorization: `Bearer ${lab.out}` },
        body: JSON.stringify({ resourceType: 'Bundle', type: 'transaction', entry }),
      });
      expect(transaction.status).toBe(403);
      const refusals = (): unknown[] =>
        (server.output.err.match(/^.*"status":403.*$/gm) ?? []).map((line) => JSON.parse(line) as unknown);
      await vi.waitFor(() => expect(refusals()).toHaveLength(2), EVENTUALLY);
      expect(refusals()).toMatchObject([
        { event: 'request', client: 'lab', missing: 'system/Patient.s' },
        { interaction: 'bundle', client: 'lab', missing: 'system/Encounter.d system/Patient.d' },
      ]);
      expect(server.output.err.match(/"client":/g)).toHaveLength(2);
      expect(server.output.err).not.toContain(lab.out);

      const load = ['load', '-', '--url', base, '--token', token];
      const file = join(folder, 'bob.json');
      writeFileSync(file, JSON.stringify({ resourceType: 'Patient', id: 'bob' }));
      expect((await command('load', file, ...load.slice(2))).out).toContain('1 created');
      const asClient = ['--url', base, '--client', 'writer', '--key', key];
      await command('client', 'add', '--id', 'writer', '--scope', 'system/Patient.u', ...jwks, ...where);
      // Within the second of its creation nobody can tell whether it is new.
      expect((await command('load', file, ...asClient)).out).toMatch(/^1 resources .*: 0 created, .*; 0 failed/m);

      expect(await command('client', 'remove', '--id', 'lab', ...where)).toMatchObject({ code: 0 });
      await vi.waitFor(async () => expect(await status(base, lab.out, '/Patient/ada')).toBe(401), EVENTUALLY);

      await command('client', 'disable', '--id', 'dev-client', ...where);
      await vi.waitFor(async () => {
        expect(await command('token', ...local)).toMatchObject({
          code: 1,
          err: expect.stringContaining('invalid_client'),
        });
      }, EVENTUALLY);
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
    [['--jwks', 'TEXT'], 1, 'is neither JSON nor PEM'],
    [['--jwks', 'PEM_PRIVATE'], 1, 'holds a private key; register the public half: openssl pkey -in FILE -pubout'],
    [['--jwks', 'PEM_CUT'], 1, 'holds no whole PEM block'],
    [['--jwks', 'PEM_OTHER'], 1, 'holds a DH PARAMETERS; a PUBLIC KEY or a CERTIFICATE is needed'],
    [['--jwks', 'PEM_JUNK'], 1, 'holds a key that cannot be read'],
    [['--jwks', 'PEM_CURVE'], 1, 'is of a kind or curve that is not supported'],
    [['--jwks', 'PEM_TWO', '--kid', 'k'], 2, '--kid names one key'],
    [['--jwks', 'KEY', '--kid', 'k'], 2, '--kid is for a key in PEM'],
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
      PEM_PRIVATE: createPrivateKey({ key: JSON.parse(key) as JsonWebKey, format: 'jwk' })
        .export({ type: 'pkcs8', format: 'pem' })
        .toString(),
      PEM_CUT: '-----BEGIN PUBLIC KEY-----\nMFk',
      PEM_OTHER: '-----BEGIN DH PARAMETERS-----\nMFk=\n-----END DH PARAMETERS-----',
      PEM_JUNK: '-----BEGIN PUBLIC KEY-----\nMFk=\n-----END PUBLIC KEY-----',
      PEM_CURVE: pemOf(generateKeyPairSync('ec', { namedCurve: 'secp256k1' }).publicKey),
      PEM_TWO: [1, 2].map(() => pemOf(generateKeyPairSync('ec', { namedCurve: 'P-384' }).publicKey)).join(''),
    };
    for (const [name, content] of Object.entries(contents)) writeFileSync(join(files.folder, name), content);
    const paths = args.map((arg) => (arg in contents ? join(files.folder, arg) : arg));
    const result = await client('add', '--id', 'other', '--scope', 'system/Patient.rs', ...paths);
    expect([result.code, result.out]).toEqual([code, '']);
    expect(result.err).toContain(message);
    expect(result.err).not.toMatch(/\n|c2VjcmV0/);
  });

  it('client keygen makes a private key for its owner alone and the set to register, and overwrites nothing', async () => {
    const out = join(files.folder, 'made');
    const made = await command('client', 'keygen', '--out', out);
    expect(made).toMatchObject({ code: 0, err: '', out: expect.stringContaining(`--jwks ${out}-jwks.json`) });
    expect(statSync(`${out}.jwk`).mode & 0o777).toBe(0o600);
    const key = JSON.parse(readFileSync(`${out}.jwk`, 'utf8')) as Record<string, unknown>;
    const { keys } = JSON.parse(readFileSync(`${out}-jwks.json`, 'utf8')) as { keys: Record<string, unknown>[] };
    const { d, ...half } = key;
    expect(d).toEqual(expect.any(String));
    expect(keys).toEqual([{ ...half, use: 'sig' }]);
    expect(
      await client('add', '--id', 'made', '--scope', 'system/Patient.rs', '--jwks', `${out}-jwks.json`),
    ).toMatchObject({
      code: 0,
    });

    for (const there of ['.jwk', '-jwks.json']) {
      const other = join(files.folder, `there${there}`);
      writeFileSync(`${other}${there}`, 'mine');
      const refused = await command('client', 'keygen', '--out', other);
      expect(refused).toMatchObject({ code: 1, err: expect.stringContaining(`${other}${there} is there already`) });
      expect(readFileSync(`${other}${there}`, 'utf8')).toBe('mine');
      expect(readdirSync(files.folder).filter((name) => name.startsWith(`there${there}`))).toHaveLength(1);
    }
    const lost = await command('client', 'keygen', '--out', join(files.folder, 'no', 'where'));
    expect(lost).toMatchObject({ code: 1, err: expect.stringContaining('there is no such folder') });
    expect((await command('client', 'keygen', '--out', out, '--alg', 'HS256')).code).toBe(2);
    expect((await command('client', 'keygen', '--out', `${out}-rsa`, '--alg', 'RS384')).code).toBe(0);
  });

  it('client add takes public keys in PEM, and says the kid that assertions have to name', async () => {
    const key = JSON.parse(readFileSync(files.key, 'utf8')) as JsonWebKey & { kid: string };
    const file = join(files.folder, 'public.pem');
    writeFileSync(file, `from a person\n${pemOf(createPublicKey({ key, format: 'jwk' }))}`);
    const add = ['add', '--id', 'pem', '--scope', 'system/Patient.rs', '--jwks', file];
    // The test's key is named by its thumbprint, as ours are.
    expect(await client(...add)).toEqual({
      code: 0,
      out: `pem is registered\nin the header of its assertions: "kid": "${key.kid}"`,
      err: '',
    });
    expect((await client(...add, '--kid', 'mine', '--replace')).out).toContain('"kid": "mine"');
    const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 }).publicKey.export({ type: 'pkcs1', format: 'pem' });
    writeFileSync(file, String(rsa) + pemOf(createPublicKey({ key, format: 'jwk' })));
    expect((await client('rotate', '--id', 'pem', '--jwks', file)).out.split('\n')).toHaveLength(3);
  });

  it('client remove takes a client out', async () => {
    const add = ['add', '--id', 'short', '--scope', 'system/Patient.rs', '--jwks', files.jwks];
    expect(await client(...add)).toMatchObject({ code: 0 });
    expect(await client('remove', '--id', 'short')).toEqual({ code: 0, out: 'short is removed', err: '' });
    expect(await client('remove', '--id', 'short')).toMatchObject({ code: 1, err: 'kiln: There is no client "short"' });
    expect((await client('list')).out).not.toContain('short');
    expect(await client('remove', '--id', 'dev-client')).toMatchObject({
      code: 1,
      err: expect.stringContaining('disable'),
    });
    expect(await client(...add)).toMatchObject({ code: 0 });
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
