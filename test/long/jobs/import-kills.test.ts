import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, describe, expect, it } from 'vitest';

import { describeOnMongod, mongodUrl, newDatabase } from '../../mongod/for-tests.js';
import { Servers } from '../servers.js';

/** Lines of the file: half of them have an id. A chunk of the job is about a megabyte. */
const LINES = 12_000;
const FILLER = 'x'.repeat(1000);
/** Every so many lines one is wrong. */
const WRONG = 1000;
const KILLS = 3;
/** Resources that clients write meanwhile. */
const MEANWHILE = 40;

const JSON_TYPE = { 'content-type': 'application/fhir+json' };

function lineOf(n: number): string {
  if (n % WRONG === 0) return JSON.stringify({ resourceType: 'Basic', code: { text: 'x' }, wrong: n });
  const own = n % 2 === 0 ? { id: `b${n}` } : {};
  return JSON.stringify({ resourceType: 'Basic', ...own, code: { text: `line ${n}` }, implicitRules: FILLER });
}

interface Manifest {
  readonly output: readonly { created: number; updated: number; unchanged: number; failed: number }[];
  readonly error: readonly { url: string; count: number }[];
}

/** An import whose process is killed again and again while clients write: no line is lost, and none is taken twice. */
async function survives(store: string, processes: number): Promise<void> {
  const servers = new Servers(store);
  try {
    for (let n = 0; n < processes; n++) await servers.start();
    const body = Array.from({ length: LINES }, (_, i) => lineOf(i + 1)).join('\n');
    const ndjson = { 'content-type': 'application/fhir+ndjson' };
    const uploaded = await fetch(`${servers.base}/Binary`, { method: 'POST', headers: ndjson, body });
    expect(uploaded.status).toBe(201);
    const url = /Binary\/[^/]+/.exec(uploaded.headers.get('location') ?? '')![0];
    const started = await fetch(`${servers.base}/$import`, {
      ...{ method: 'POST', headers: { ...JSON_TYPE, prefer: 'respond-async' } },
      body: JSON.stringify({
        resourceType: 'Parameters',
        parameter: [{ name: 'input', part: [{ name: 'url', valueUri: url }] }],
      }),
    });
    expect(started.status, await started.text()).toBe(202);
    const id = /_jobId=(.*)$/.exec(started.headers.get('content-location') ?? '')?.[1] ?? '';
    const status = () => fetch(`${servers.base}/$import-poll-status?_jobId=${id}`);
    let written = 0;
    const write = async (): Promise<void> => {
      const flag = { resourceType: 'Basic', id: `other-${written}`, code: { text: 'by a client' } };
      const at = `${servers.base}/Basic/${flag.id}`;
      const answer = await fetch(at, { method: 'PUT', headers: JSON_TYPE, body: JSON.stringify(flag) });
      expect(answer.status, await answer.text()).toBe(201);
      written++;
    };
    for (let n = 1; n <= KILLS; n++) {
      for (;;) {
        const answer = await status();
        const done = Number(/, (\d+)/.exec(answer.headers.get('x-progress') ?? '')?.[1] ?? 0);
        expect(answer.status, await answer.text()).toBe(202);
        if (done >= (LINES * n) / (KILLS + 2)) break;
        if (written < MEANWHILE) await write();
        await sleep(50);
      }
      await servers.kill();
      await servers.start();
    }
    while (written < MEANWHILE) await write();
    let manifest: Manifest | undefined;
    while (manifest === undefined) {
      const answer = await status();
      expect([200, 202]).toContain(answer.status);
      if (answer.status === 200) manifest = (await answer.json()) as Manifest;
      else await sleep(100);
    }

    const { output, error } = manifest;
    const [{ created, updated, unchanged, failed }] = output as [Manifest['output'][number]];
    expect(failed).toBe(LINES / WRONG);
    // What a process had written before it was killed is found as it is.
    expect([updated, created + unchanged]).toEqual([0, LINES - failed]);
    const faults: string[] = [];
    for (const { url: file } of error) {
      const answer = await fetch(file.replace(/^.*\/fhir/, servers.base));
      for (const [, line] of (await answer.text()).matchAll(/"diagnostics":"(?:[^"\\]|\\.)*, line (\d+)/g))
        faults.push(line!);
    }
    expect(faults).toEqual(Array.from({ length: LINES / WRONG }, (_, i) => String((i + 1) * WRONG)));

    const seen = new Map<string, string>();
    for (let at = `${servers.base}/Basic?_count=1000&_elements=code`; at !== '';) {
      const page = (await (await fetch(at)).json()) as {
        entry?: { resource: { id: string; code: { text: string }; meta: { versionId: string } } }[];
        link: { relation: string; url: string }[];
      };
      for (const { resource } of page.entry ?? []) {
        expect(resource.meta.versionId, resource.id).toBe('1');
        if (resource.id.startsWith('other-')) continue;
        expect(seen.get(resource.code.text), resource.code.text).toBeUndefined();
        seen.set(resource.code.text, resource.id);
      }
      const next = page.link.find(({ relation }) => relation === 'next');
      at = next === undefined ? '' : next.url.replace(/^.*\/fhir/, servers.base);
    }
    expect(seen.size).toBe(LINES - LINES / WRONG);
    for (let n = 2; n < LINES; n += 2) if (n % WRONG !== 0) expect(seen.get(`line ${n}`)).toBe(`b${n}`);
  } finally {
    await servers.end();
  }
}

describe('an import whose process is killed three times', () => {
  const folder = mkdtempSync(join(tmpdir(), 'kiln-import-'));
  afterAll(() => rmSync(folder, { recursive: true }));

  it('is whole on SQLite', () => survives(`sqlite:${join(folder, 'kiln.db')}`, 1));
});

describeOnMongod('an import of two processes, of which one is killed three times', () => {
  it('is whole on MongoDB', () => survives(mongodUrl() === undefined ? '' : newDatabase(), 2));
});
