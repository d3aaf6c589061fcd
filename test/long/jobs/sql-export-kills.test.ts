import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, describe, expect, it } from 'vitest';

import { openStore } from '../../contract/open-store.js';
import { describeOnMongod, mongodUrl, newDatabase } from '../../mongod/for-tests.js';
import { Servers } from '../servers.js';
import { soak } from '../soak.js';
import { fillFor } from './fill-for-jobs.js';

const COUNT = soak(40_000);
const KILLS = 2;
/** Between two writes: 100 a second. */
const PAUSE = 10;

const JSON_TYPE = { 'content-type': 'application/fhir+json' };

const VIEW = {
  ...{ resourceType: 'ViewDefinition', name: 'observations', status: 'active', resource: 'Observation' },
  select: [
    {
      column: [
        { name: 'id', path: 'getResourceKey()' },
        { name: 'version', path: 'meta.versionId' },
        { name: 'language', path: 'language' },
        { name: 'status', path: 'status' },
        { name: 'code', path: "code.coding.where(system = 'http://loinc.org').code.first()" },
        { name: 'effective', path: 'effective.ofType(dateTime)' },
        { name: 'value', path: 'value.ofType(Quantity).value', type: 'decimal' },
        { name: 'unit', path: 'value.ofType(Quantity).unit' },
      ],
    },
  ],
};

const OBSERVATION = {
  status: 'final',
  code: { coding: [{ system: 'http://loinc.org', code: '8867-4' }] },
  effectiveDateTime: '2024-05-01T08:00:00Z',
  valueQuantity: { value: 72, unit: '/min' },
};

const ROW = {
  ...{ version: '1', language: 'en', status: 'final', code: '8867-4' },
  ...{ effective: '2024-05-01T08:00:00Z', value: 72, unit: '/min' },
};

interface ExportResult {
  readonly parameter: readonly { readonly name: string; readonly part: readonly ResultPart[] }[];
}

interface ResultPart {
  readonly name: string;
  readonly valueUri?: string;
}

/** Changes, deletes and creates what is exported, until it is stopped. Gives the number of writes that were answered. */
function writeOn(servers: Servers): { readonly stop: () => Promise<number> } {
  let isOver = false;
  let done = 0;
  const open = new Set<Promise<void>>();
  const write = async (n: number): Promise<void> => {
    const id = n % 3 === 2 ? `new-${n}` : `observation-${(n * 37) % COUNT}`;
    const body = JSON.stringify({ resourceType: 'Observation', id, ...OBSERVATION, status: 'amended' });
    const request = n % 3 === 1 ? { method: 'DELETE' } : { method: 'PUT', headers: JSON_TYPE, body };
    try {
      const answer = await fetch(`${servers.base}/Observation/${id}`, request);
      if (answer.ok) done++;
    } catch {
      // The server was killed.
    }
  };
  const loop = (async () => {
    for (let n = 0; !isOver; n++) {
      const one = write(n).finally(() => open.delete(one));
      open.add(one);
      await sleep(PAUSE);
    }
  })();
  return {
    async stop() {
      isOver = true;
      await loop;
      await Promise.allSettled(open);
      return done;
    },
  };
}

/**
 * An export of a view whose process is killed while clients write what it reads: the table has each resource once, as it was at one
 * instant.
 */
async function survives(store: string, processes: number): Promise<void> {
  await fillFor(store, ['Observation'], COUNT, OBSERVATION);
  const servers = new Servers(store);
  try {
    for (let n = 0; n < processes; n++) await servers.start();
    const writes = writeOn(servers);
    await sleep(50);
    const part = [{ name: 'subjectResource', resource: VIEW }];
    const body = JSON.stringify({ resourceType: 'Parameters', parameter: [{ name: 'subject', part }] });
    const headers = { ...JSON_TYPE, prefer: 'respond-async' };
    const started = await fetch(`${servers.base}/$sql-export`, { method: 'POST', headers, body });
    expect(started.status, await started.text()).toBe(202);
    const id = /_jobId=(.*)$/.exec(started.headers.get('content-location') ?? '')?.[1] ?? '';
    const status = () => fetch(`${servers.base}/$sql-export-poll-status?_jobId=${id}`, { redirect: 'manual' });
    for (let n = 1; n <= KILLS; n++) {
      for (let done = 0; done < (COUNT * n) / (KILLS + 1); await sleep(20)) {
        const answer = await status();
        done = Number(/, (\d+)/.exec(answer.headers.get('x-progress') ?? '')?.[1] ?? 0);
        expect(answer.status, await answer.text()).toBe(202);
      }
      await servers.kill();
      await servers.start();
    }
    let result = await status();
    for (; result.status === 202; result = await status()) await sleep(100);
    expect(result.status).toBe(303);
    expect(await writes.stop()).toBeGreaterThan(100);
    const shown = await fetch(`${servers.base}/$sql-export-poll-status?_jobId=${id}&_result=true`);
    const { parameter } = (await shown.json()) as ExportResult;
    const files = parameter
      .filter(({ name }) => name === 'output')
      .flatMap((output) => output.part.flatMap(({ name, valueUri = '' }) => (name === 'location' ? [valueUri] : [])));
    const seen = new Map<string, number>();
    for (const url of files) {
      const file = await fetch(url.replace(/^.*\/fhir/, servers.base));
      for (const line of (await file.text()).trimEnd().split('\n')) {
        const row = JSON.parse(line) as { readonly id: string; readonly version: string };
        seen.set(row.id, (seen.get(row.id) ?? 0) + 1);
        // What was changed before the instant has a second version, and none a third: each is changed once.
        const { id, ...cells } = row;
        const isWritten = cells.version === '2' || id.startsWith('new-');
        const { version } = cells;
        if (isWritten) expect(cells).toEqual({ ...ROW, version, status: 'amended', language: null });
        else expect(cells).toEqual(ROW);
      }
    }
    expect([...seen].filter(([, count]) => count !== 1)).toEqual([]);
    // Of the few writes before the instant some deleted one, and some made one.
    expect(Math.abs(seen.size - COUNT)).toBeLessThan(50);
    const end = await fetch(`${servers.base}/$sql-export-poll-status?_jobId=${id}`, { method: 'DELETE' });
    expect(end.status).toBe(202);
  } finally {
    await servers.end();
  }
  const left = await openStore(store);
  expect(await left.blobs.list('sql-export/')).toEqual([]);
  await left.close();
}

describe('an export of a view whose process is killed twice, under 100 writes a second', () => {
  const folder = mkdtempSync(join(tmpdir(), 'kiln-sql-export-'));
  afterAll(() => rmSync(folder, { recursive: true }));

  it('is whole on SQLite', () => survives(`sqlite:${join(folder, 'kiln.db')}`, 1));
});

describeOnMongod(
  'an export of a view by two processes, of which one is killed twice, under 100 writes a second',
  () => {
    it('is whole on MongoDB', () => survives(mongodUrl() === undefined ? '' : newDatabase(), 2));
  },
);
