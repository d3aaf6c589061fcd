import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';

import { openStore } from '../contract/open-store.js';
import { startKiln, type KilnProcess } from './kiln-process.js';

let folder: string;
let kiln: KilnProcess;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'kiln-currency-'));
});
afterEach(async () => {
  kiln.child.kill('SIGKILL');
  await kiln.ended;
  rmSync(folder, { recursive: true });
});

it(
  'index entries of other definitions are told of: in the log, by readiness, in /metadata',
  { timeout: 60_000 },
  async () => {
    const url = `sqlite:${join(folder, 'kiln.db')}`;
    const serve = async () => {
      kiln = startKiln(['serve', '--port', '0', '--store', url]);
      const base = await kiln.started;
      const ready = (await (await fetch(new URL('/health/ready', base))).json()) as { status: string; detail?: string };
      const { rest } = (await (await fetch(`${base}/metadata`)).json()) as { rest: { documentation?: string }[] };
      return { base, ready, documentation: rest[0]?.documentation };
    };
    const stop = async () => {
      kiln.child.kill('SIGTERM');
      expect(await kiln.ended).toBe(0);
    };

    const first = await serve();
    expect([first.ready, first.documentation]).toEqual([{ status: 'ok' }, undefined]);
    await fetch(`${first.base}/Patient/a`, {
      method: 'PUT',
      body: '{"resourceType":"Patient","id":"a"}',
      headers: { 'content-type': 'application/fhir+json' },
    });
    await stop();

    // As if the entries had been made when the definition of one parameter was another.
    const store = await openStore(url);
    const text = (await store.maps.get('index', 'record')) ?? '';
    const record = JSON.parse(text) as { rows: Record<string, string> };
    const changed = { whole: 'x', rows: { ...record.rows, 'Patient.birthdate': 'x' } };
    expect(record.rows).toHaveProperty(['Patient.birthdate']);
    expect(await store.maps.swap('index', 'record', text, JSON.stringify(changed))).toBe(true);
    await store.close();

    const second = await serve();
    const told = expect.stringMatching(/^Index entries of Patient\.birthdate were made by other definitions/) as string;
    expect([second.ready, second.documentation]).toEqual([{ status: 'ok', detail: told }, told]);
    expect(kiln.output.err).toContain('Patient.birthdate');
    await stop();
  },
);
