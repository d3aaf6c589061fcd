import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';

import type { IndexRecord } from '../../runtime/indexing/index-record.js';
import { openStore } from '../contract/open-store.js';
import { EVENTUALLY } from '../eventually.js';
import { startKiln, type KilnProcess } from './kiln-process.js';

let folder: string;
let server: KilnProcess | undefined;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'kiln-reindex-'));
});
afterEach(async () => {
  server?.child.kill('SIGKILL');
  await server?.ended;
  rmSync(folder, { recursive: true });
});

interface Bundle {
  readonly total?: number;
  readonly entry?: { readonly search: { readonly mode: string }; readonly resource: object }[];
}

it(
  'searches by entries of other definitions carry a warning; kiln reindex ends it while the server runs',
  { timeout: 120_000 },
  async () => {
    const url = `sqlite:${join(folder, 'kiln.db')}`;
    const serve = async () => {
      server = startKiln(['serve', '--port', '0', '--store', url]);
      return server.started;
    };
    const run = async (...args: string[]) => {
      const command = startKiln([...args, '--store', url]);
      command.started.catch(() => {});
      return { code: await command.ended, ...command.output };
    };
    const search = async (base: string, query: string) => {
      const { entry = [], ...bundle } = (await (await fetch(`${base}/${query}`)).json()) as Bundle;
      const modes = entry.map(({ search: { mode } }) => mode);
      return {
        total: bundle.total,
        modes,
        text: JSON.stringify(entry.filter(({ search: s }) => s.mode === 'outcome')),
      };
    };

    const first = await serve();
    await fetch(`${first}/Patient/a`, {
      method: 'PUT',
      body: '{"resourceType":"Patient","id":"a","birthDate":"1815-12-10","gender":"female"}',
      headers: { 'content-type': 'application/fhir+json' },
    });
    expect(await search(first, 'Patient?birthdate=1815')).toEqual({ total: 1, modes: ['match'], text: '[]' });
    server!.child.kill('SIGTERM');
    await server!.ended;

    // As if another definition of the parameter had found nothing.
    const store = await openStore(url);
    expect(await store.reindex([{ type: 'Patient', id: 'a', version: 1, entries: [] }])).toBe(1);
    const text = (await store.maps.get('index', 'record')) ?? '';
    const { rows } = JSON.parse(text) as IndexRecord;
    const changed: IndexRecord = { whole: 'x', rows: { ...rows, 'Patient.birthdate': 'x' } };
    expect(await store.maps.swap('index', 'record', text, JSON.stringify(changed))).toBe(true);
    await store.close();

    const second = await serve();
    const warned = await search(second, 'Patient?birthdate=1815');
    expect([warned.total, warned.modes]).toEqual([0, ['outcome']]);
    expect(warned.text).toContain('Index entries of Patient.birthdate were made by other definitions');
    expect((await search(second, 'Patient?_sort=birthdate')).modes).toEqual(['match', 'outcome']);
    // Who does not use it is not warned.
    expect((await search(second, 'Patient?_id=a')).modes).toEqual(['match']);

    const done = await run('reindex');
    expect([done.code, done.out]).toEqual([0, expect.stringMatching(/^1 resources indexed anew in /) as string]);
    expect(done.err).toContain('Index entries of Patient.birthdate were made by other definitions');
    // The server looks from time to time.
    await vi.waitFor(async () => {
      expect(await search(second, 'Patient?birthdate=1815')).toEqual({ total: 1, modes: ['match'], text: '[]' });
    }, EVENTUALLY);
    const metadata = (await (await fetch(`${second}/metadata`)).json()) as { rest: { documentation?: string }[] };
    expect(metadata.rest[0]?.documentation).toBeUndefined();
    expect(await (await fetch(new URL('/health/ready', second))).json()).toEqual({ status: 'ok' });

    expect((await run('reindex', '--type', 'Patient')).code).toBe(0);
    const wrong = await run('reindex', '--type', 'Patent');
    expect([wrong.code, wrong.err]).toEqual([
      2,
      expect.stringContaining('no such resource type; did you mean Patient?') as string,
    ]);
  },
);
