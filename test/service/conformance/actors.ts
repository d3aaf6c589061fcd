import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';

import { MHD_PARAMETERS, STATEMENTS } from '../../guides/statements.js';
import { command } from '../auth.js';
import { startKiln, type KilnProcess } from '../kiln-process.js';

/** A server that is an actor of an exchange guide does what its CapabilityStatement asks. @param makeStore given a folder for files */
export function actorsConform(makeStore: (folder: string) => string): void {
  const actors = Object.keys(STATEMENTS);
  let folder: string;
  let kiln: KilnProcess;
  let base: string;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'kiln-actors-'));
    const settings = ['--auth', 'open', '--port', '0', '--store', makeStore(folder)];
    kiln = startKiln(['serve', ...settings, '--profiles-actors', actors.join(',')]);
    base = await kiln.started;
    for (const parameter of MHD_PARAMETERS) {
      const headers = { 'content-type': 'application/fhir+json' };
      const answer = await fetch(`${base}/SearchParameter`, {
        method: 'POST',
        headers,
        body: JSON.stringify(parameter),
      });
      expect(answer.status, await answer.text()).toBe(201);
    }
  }, 60_000);
  afterAll(async () => {
    kiln.child.kill('SIGTERM');
    await kiln.ended;
    rmSync(folder, { recursive: true });
  });

  it.each(actors)('%s: every SHALL and SHOULD works', { timeout: 120_000 }, async (actor) => {
    const file = join(folder, `${actor}.json`);
    writeFileSync(file, JSON.stringify(STATEMENTS[actor]));
    const data = join(folder, 'organization.json');
    writeFileSync(data, JSON.stringify({ resourceType: 'Organization', name: 'Ward' }));
    const { code, out, err } = await command('conformance', file, '--url', base, '--data', data);
    const counts = [...out.matchAll(/^(SHALL|SHOULD): (\d+) of (\d+) work/gm)];
    expect(out.split('\n').filter((line) => / {2}(?:fails|unasked)\b/.test(line))).toEqual([]);
    expect(counts.length).toBeGreaterThan(0);
    for (const [, , works, all] of counts) expect(works).toBe(all);
    expect(code, err).toBe(0);
  });
}
