import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';

import { startKiln, type KilnProcess } from './kiln-process.js';

const JSON_TYPE = 'application/fhir+json';

describe('jobs of a server', { timeout: 60_000 }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'kiln-jobs-'));
  const store = `sqlite:${join(folder, 'kiln.db')}`;
  let kiln: KilnProcess;
  let base: string;

  beforeAll(async () => {
    const env = { KILN_REINDEX_AUTOMATIC: 'true' };
    kiln = startKiln(['serve', '--port', '0', '--store', store, '--metrics-port', '0'], 'sources', env);
    base = await kiln.started;
    for (const id of ['a', 'b', 'c']) await put({ resourceType: 'Patient', id, extension: eyes(id) });
    await put({ resourceType: 'Organization', id: 'o', name: 'one' });
  }, 120_000);
  afterAll(async () => {
    kiln.child.kill('SIGKILL');
    await kiln.ended;
    rmSync(folder, { recursive: true });
  });

  const eyes = (color: string) => [{ url: 'http://x.example/eyes', valueString: color }];

  async function put(resource: { resourceType: string; id: string; [element: string]: unknown }): Promise<void> {
    const url = `${base}/${resource.resourceType}/${resource.id}`;
    const answer = await fetch(url, {
      method: 'PUT',
      headers: { 'content-type': JSON_TYPE },
      body: JSON.stringify(resource),
    });
    expect(answer.status, await answer.text()).toBe(201);
  }

  async function command(...args: string[]): Promise<{ code: number | null; out: string; err: string }> {
    const { ended, output } = startKiln(args);
    const code = await ended;
    return { code, ...output };
  }

  it('kiln export downloads the files, and removes them from the server', async () => {
    const target = join(folder, 'files');
    const done = await command('export', target, '--url', base, '--type', 'Patient,Organization');
    expect(done, done.err).toMatchObject({ code: 0 });
    expect(done.out).toContain('4 resources in 2 files');
    expect(readdirSync(target).sort()).toEqual(['Organization.1.ndjson', 'Patient.1.ndjson']);
    const lines = readFileSync(join(target, 'Patient.1.ndjson'), 'utf8').trimEnd().split('\n');
    expect(lines.map((line) => (JSON.parse(line) as { id: string }).id).sort()).toEqual(['a', 'b', 'c']);
    const again = await command('export', target, '--url', base);
    expect([again.code, again.err]).toEqual([2, expect.stringContaining('is not empty')]);
    const refused = await command('export', join(folder, 'none'), '--url', base, '--type', 'Nonsense');
    expect([refused.code, refused.err]).toEqual([1, expect.stringContaining('"Nonsense"')]);
  });

  it('kiln load --bulk uploads what the server imports, and says what was wrong', async () => {
    const file = join(folder, 'bulk.ndjson');
    const lines = [
      ...Array.from({ length: 30 }, (_, i) => ({ resourceType: 'Basic', id: `bulk${i}`, code: { text: 'x' } })),
      { resourceType: 'Basic', id: 'wrong' },
      { resourceType: 'Basic', code: { text: 'without an id' } },
    ];
    writeFileSync(file, lines.map((line) => JSON.stringify(line)).join('\n'));
    const done = await command('load', file, '--url', base, '--bulk');
    expect(done.code, done.err).toBe(1);
    expect(done.out).toContain('31 created, 0 updated, 0 unchanged; 1 failed');
    expect(done.err).toContain('bulk.ndjson');
    const again = await command('load', file, '--url', base, '--bulk');
    expect(again.out).toContain('1 created, 0 updated, 30 unchanged; 1 failed');
    const found = (await (await fetch(`${base}/Basic?_summary=count`)).json()) as { total: number };
    expect(found.total).toBe(32);
    expect((await command('load', file, '--bulk')).err).toContain('--bulk goes with --url');
  });

  it('kiln load --bulk replaces nothing of another canonical by what a package has', async () => {
    const system = (url: string) => ({ ...{ resourceType: 'CodeSystem', id: 'taken', url }, status: 'active', content: 'not-present' }); // prettier-ignore
    await put(system('http://own.example/taken'));
    const pack = join(folder, 'pack');
    mkdirSync(pack);
    writeFileSync(join(pack, 'package.json'), JSON.stringify({ name: 'pack', fhirVersions: ['5.0.0'] }));
    writeFileSync(join(pack, 'CodeSystem-taken.json'), JSON.stringify(system('http://pack.example/taken')));
    const done = await command('load', pack, '--url', base, '--bulk');
    expect(done.out, done.err).toContain('1 created, 0 updated, 0 unchanged; 0 failed');
    const { url } = (await (await fetch(`${base}/CodeSystem/taken`)).json()) as { url: string };
    expect(url).toBe('http://own.example/taken');
    expect((await command('load', pack, '--url', base, '--bulk')).out).toContain('0 created');
  });

  it('a search parameter that comes into effect is indexed by a job; kiln jobs and /metrics show it', async () => {
    await put({
      resourceType: 'SearchParameter',
      id: 'eyes',
      ...{
        url: 'http://x.example/SearchParameter/eyes',
        name: 'Eyes',
        status: 'active',
        description: 'eyes',
        code: 'eyes',
      },
      ...{
        base: ['Patient'],
        type: 'string',
        processingMode: 'normal',
        expression: "Patient.extension('http://x.example/eyes').value.ofType(string)",
      },
    });
    await vi.waitFor(
      async () => {
        const found = (await (await fetch(`${base}/Patient?eyes=b`)).json()) as {
          total: number;
          entry?: { search: { mode: string } }[];
        };
        expect(found.total).toBe(1);
        expect(found.entry?.map(({ search }) => search.mode)).toEqual(['match']);
      },
      { timeout: 30_000, interval: 200 },
    );
    const watched = await command('jobs', '--watch', '--store', store);
    expect(watched.code, watched.err).toBe(0);
    expect(watched.out).toMatch(/reindex {3}completed {4}\d+ of \d+ resources {2}\S+ {2}the server/);
    const metricsUrl = /http:\S+\/metrics/.exec(kiln.output.err)?.[0] ?? '';
    const metrics = await (await fetch(metricsUrl)).text();
    expect(metrics).toContain('kiln_jobs{type="reindex",state="completed"} 1');
    expect(metrics).toContain('kiln_jobs_ended_total{type="reindex",state="completed"} 1');
    const missing = await command('jobs', '--cancel', 'none', '--store', store);
    expect([missing.code, missing.err]).toEqual([1, expect.stringContaining('no job none')]);
  });
});
