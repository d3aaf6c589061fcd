import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { command, freePort } from './auth.js';
import { startKiln, type KilnProcess } from './kiln-process.js';

const TIMES = { timeout: 120_000 };

describe('kiln load --running', TIMES, () => {
  let folder: string;
  let port: string;
  let file: string;
  const servers: KilnProcess[] = [];

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'kiln-running-'));
    port = String(await freePort());
    file = join(folder, 'in.json');
    writeFileSync(file, JSON.stringify({ resourceType: 'Patient', id: 'ada' }));
  });
  afterEach(async () => {
    for (const { child, ended } of servers.splice(0)) {
      child.kill('SIGTERM');
      await ended;
    }
    rmSync(folder, { recursive: true });
  });

  const storeOf = (name: string): string => `sqlite:${join(folder, name, 'kiln.db')}`;
  const start = (...args: string[]): Promise<string> => {
    const server = startKiln(['serve', '--port', port, ...args]);
    servers.push(server);
    return server.started;
  };
  const load = (store: string, ...more: string[]) =>
    command('load', file, '--running', '--port', port, '--store', store, ...more);

  it('loads into the server that runs, as its development client', async () => {
    const base = await start('--auth', 'smart', '--store', storeOf('data'));
    const ran = await load(storeOf('data'));
    expect(ran).toMatchObject({ code: 0, err: `kiln: loading into the server at ${base}` });
    expect(ran.out).toContain('1 created');
    const { out: token } = await command('token', '--port', port, '--store', storeOf('data'));
    const read = await fetch(`${base}/Patient/ada`, { headers: { authorization: `Bearer ${token}` } });
    expect(read.status).toBe(200);
  });

  it('loads nothing where the server that runs has another store, and says so', async () => {
    await start('--auth', 'smart', '--store', storeOf('data'));
    const absent = await load(storeOf('other'));
    expect(absent).toMatchObject({ code: 1, out: '' });
    expect(absent.err).toContain(`does not let the development client of ${storeOf('other')} in`);
    // The store was made by another server, and has a development client of its own.
    const [first, mine] = [port, String(await freePort())];
    port = mine;
    await start('--auth', 'smart', '--store', storeOf('other'));
    port = first;
    const strange = await load(storeOf('other'));
    expect(strange).toMatchObject({ code: 1, out: '' });
    expect(strange.err).toMatch(/nothing was loaded: .* serves another store .*invalid_client/);
  });

  it('needs no token where the server asks for none, whatever its store is', async () => {
    const base = await start('--auth', 'open', '--store', 'sqlite::memory:');
    expect(await load(storeOf('data'))).toMatchObject({ code: 0, err: `kiln: loading into the server at ${base}` });
    expect((await fetch(`${base}/Patient/ada`)).status).toBe(200);
  });

  it('loads into the store where no server runs, and says which', async () => {
    const ran = await load(storeOf('data'));
    expect(ran).toMatchObject({ code: 0, out: expect.stringContaining('1 created') });
    expect(ran.err).toContain(`kiln: no server runs at http://127.0.0.1:${port}/fhir; loading into ${storeOf('data')}`);
  });

  it('goes with no other server, and the address with nothing else', async () => {
    expect(await load(storeOf('data'), '--token', 'x')).toMatchObject({
      code: 2,
      err: 'kiln: --running and --token exclude each other',
    });
    expect(await command('load', file, '--port', port, '--store', storeOf('data'))).toMatchObject({
      code: 2,
      err: 'kiln: --port goes with --running',
    });
  });
});
