import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, describe, expect, it } from 'vitest';

import type { Resource } from '../../../runtime/fhir/resource.js';
import { openStore } from '../../contract/open-store.js';
import { describeOnMongod, mongodUrl, newDatabase } from '../../mongod/for-tests.js';
import { Servers } from '../servers.js';

const COUNT = 12_000;
const AT_ONCE = 500;
const KILLS = 3;
/** Patients that clients rename meanwhile. */
const RENAMED = 60;

const JSON_TYPE = { 'content-type': 'application/fhir+json' };

/** Patients without index entries, as an older program could have left them. */
async function fill(url: string): Promise<void> {
  const store = await openStore(url);
  for (let at = 0; at < COUNT; at += AT_ONCE) {
    const changes = Array.from({ length: AT_ONCE }, (_, i) => {
      const id = `p${at + i}`;
      const content: Resource = { resourceType: 'Patient', id, name: [{ family: 'Before' }] };
      const body = { head: `{"resourceType":"Patient","id":"${id}","meta":{`, tail: '},"name":[{"family":"Before"}]}' };
      return { type: 'Patient', id, expected: 0, body, content, entries: [] };
    });
    await store.write(changes);
  }
  await store.close();
}

/** A reindexing whose process is killed again and again while clients write: no entry is missing, and none is stale. */
async function survives(store: string, processes: number): Promise<void> {
  await fill(store);
  const servers = new Servers(store);
  try {
    for (let n = 0; n < processes; n++) await servers.start();
    const total = async (family: string): Promise<number> =>
      ((await (await fetch(`${servers.base}/Patient?family=${family}&_summary=count`)).json()) as { total: number })
        .total;
    expect(await total('before')).toBe(0);
    const started = await fetch(`${servers.base}/$reindex`, { method: 'POST' });
    expect(started.status, await started.text()).toBe(202);
    const id = /_jobId=(.*)$/.exec(started.headers.get('content-location') ?? '')?.[1] ?? '';
    const status = () => fetch(`${servers.base}/$svc.fhir.reindex-status?_jobId=${id}`);
    const renamed = new Set<number>();
    const rename = async (): Promise<void> => {
      const n = renamed.size * 191;
      const body = JSON.stringify({ resourceType: 'Patient', id: `p${n}`, name: [{ family: 'After' }] });
      const answer = await fetch(`${servers.base}/Patient/p${n}`, { method: 'PUT', headers: JSON_TYPE, body });
      expect(answer.status, await answer.text()).toBe(200);
      renamed.add(n);
    };
    for (let n = 1; n <= KILLS; n++) {
      for (;;) {
        const answer = await status();
        const done = Number(/, (\d+)/.exec(answer.headers.get('x-progress') ?? '')?.[1] ?? 0);
        // Whatever is done by then: a fast machine may have ended.
        if (answer.status === 200 || done >= (COUNT * n) / (KILLS + 1)) break;
        if (renamed.size < RENAMED) await rename();
        // Each question is a request that the job makes room for.
        else await sleep(20);
      }
      await servers.kill();
      await servers.start();
    }
    while (renamed.size < RENAMED) await rename();
    for (;;) {
      const answer = await status();
      if (answer.status === 200) {
        expect(await answer.text()).toContain('"200 OK"');
        break;
      }
      await sleep(100);
    }
    expect(await total('after')).toBe(RENAMED);
    expect(await total('before')).toBe(COUNT - RENAMED);
  } finally {
    await servers.end();
  }
}

describe('a reindexing whose process is killed three times', () => {
  const folder = mkdtempSync(join(tmpdir(), 'kiln-reindex-'));
  afterAll(() => rmSync(folder, { recursive: true }));

  it('is whole on SQLite', () => survives(`sqlite:${join(folder, 'kiln.db')}`, 1));
});

describeOnMongod('a reindexing of two processes, of which one is killed three times', () => {
  it('is whole on MongoDB', () => survives(mongodUrl() === undefined ? '' : newDatabase(), 2));
});
