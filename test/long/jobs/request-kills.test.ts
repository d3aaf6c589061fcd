import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, describe, expect, it } from 'vitest';

import { describeOnMongod, mongodUrl, newDatabase } from '../../mongod/for-tests.js';
import { Servers } from '../servers.js';
import { soak } from '../soak.js';

/** Entries of the batch: half of them get an id from the server. A MongoDB takes a tenth of a second for each, on a busy machine. */
const ENTRIES = { sqlite: soak(5000), mongo: soak(1500) };
const KILLS = 3;

const JSON_TYPE = { 'content-type': 'application/fhir+json' };

function entryOf(n: number): object {
  const resource = { resourceType: 'Basic', code: { text: `entry ${n}` } };
  if (n % 2 === 0) return { resource, request: { method: 'POST', url: 'Basic' } };
  return { resource: { ...resource, id: `b${n}` }, request: { method: 'PUT', url: `Basic/b${n}` } };
}

/** A batch that is answered later and whose process is killed again and again: no entry is lost, and none is executed twice. */
async function survives(store: string, processes: number, entries: number): Promise<void> {
  const servers = new Servers(store);
  try {
    for (let n = 0; n < processes; n++) await servers.start();
    const entry = Array.from({ length: entries }, (_, n) => entryOf(n));
    const started = await fetch(servers.base, {
      ...{ method: 'POST', headers: { ...JSON_TYPE, prefer: 'respond-async' } },
      body: JSON.stringify({ resourceType: 'Bundle', type: 'batch', entry }),
    });
    expect(started.status, await started.text()).toBe(202);
    const id = /_jobId=(.*)$/.exec(started.headers.get('content-location') ?? '')?.[1] ?? '';
    const status = () => fetch(`${servers.base}/$async-poll-status?_jobId=${id}`);
    for (let n = 1; n <= KILLS; n++) {
      for (;;) {
        const found = await fetch(`${servers.base}/Basic?_summary=count`);
        const { total } = (await found.json()) as { total: number };
        if (total >= (entries * n) / (KILLS + 2)) break;
        await sleep(50);
      }
      expect((await status()).status).toBe(202);
      await servers.kill();
      await servers.start();
    }
    let answer = await status();
    for (; answer.status === 202; answer = await status()) await sleep(200);
    expect(answer.status).toBe(200);
    const { entry: outer } = (await answer.json()) as { entry: [{ resource: { entry: Answered[] } }] };
    const answered = outer[0].resource.entry;
    expect(answered.length).toBe(entries);
    const places = answered.map(({ response }) => [response.status, response.etag].join());
    expect([...new Set(places)]).toEqual(['201 Created,W/"1"']);
    expect(new Set(answered.map(({ response }) => response.location)).size).toBe(entries);
    const history = (await (await fetch(`${servers.base}/_history?_count=1`)).json()) as { total: number };
    expect(history.total).toBe(entries);
    for (const n of [0, 1, entries / 2 - 2, entries / 2 - 1, entries - 2, entries - 1]) {
      const resource = (await (await fetch(`${servers.base}/${answered[n]!.response.location}`)).json()) as { code: { text: string } }; // prettier-ignore
      expect(resource.code.text).toBe(`entry ${n}`);
    }
  } finally {
    await servers.end();
  }
}

interface Answered {
  readonly response: { readonly status: string; readonly location: string; readonly etag: string };
}

describe('a batch whose process is killed three times', () => {
  const folder = mkdtempSync(join(tmpdir(), 'kiln-request-'));
  afterAll(() => rmSync(folder, { recursive: true }));

  it('is executed once on SQLite', () => survives(`sqlite:${join(folder, 'kiln.db')}`, 1, ENTRIES.sqlite));
});

describeOnMongod('a batch of two processes, of which one is killed three times', () => {
  it('is executed once on MongoDB', () => survives(mongodUrl() === undefined ? '' : newDatabase(), 2, ENTRIES.mongo));
});
