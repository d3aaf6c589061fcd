import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, describe, expect, it } from 'vitest';

import { openStore } from '../../contract/open-store.js';
import { describeOnMongod, mongodUrl, newDatabase } from '../../mongod/for-tests.js';
import { fillFor } from './fill-for-jobs.js';
import { Servers } from '../servers.js';

const TYPES = [
  'Basic',
  'Condition',
  'Encounter',
  'Flag',
  'Group',
  'Observation',
  'Organization',
  'Patient',
  'Procedure',
];
const EACH = 6000;
const KILLS = 3;
/** Resources that clients change after the kick-off, of each type. */
const CHANGED = 40;

const JSON_TYPE = { 'content-type': 'application/fhir+json' };

/**
 * An export whose process is killed again and again while clients write: it completes, and holds each resource once, as it was at
 * the transaction time.
 */
async function survives(store: string, processes: number): Promise<void> {
  await fillFor(store, TYPES, EACH);
  const servers = new Servers(store);
  try {
    for (let n = 0; n < processes; n++) await servers.start();
    const headers = { prefer: 'respond-async' };
    const started = await fetch(`${servers.base}/$export`, { headers });
    expect(started.status).toBe(202);
    const id = /_jobId=(.*)$/.exec(started.headers.get('content-location') ?? '')?.[1] ?? '';
    const change = async (n: number): Promise<void> => {
      for (const type of TYPES) {
        const at = `${servers.base}/${type}/${type.toLowerCase()}-${n * 7}`;
        await fetch(at, n % 2 === 0 ? { method: 'DELETE' } : put(type, n * 7)).catch(() => {});
      }
    };
    let changed = 0;
    const status = () => fetch(`${servers.base}/$export-poll-status?_jobId=${id}`);
    for (let n = 1; n <= KILLS; n++) {
      const goal = (TYPES.length * EACH * n) / (KILLS + 1);
      for (;;) {
        const answer = await status();
        const done = Number(/, (\d+)/.exec(answer.headers.get('x-progress') ?? '')?.[1] ?? 0);
        expect(answer.status, await answer.text()).toBe(202);
        if (done >= goal) break;
        if (changed < CHANGED) await change(changed++);
        await sleep(50);
      }
      await servers.kill();
      await servers.start();
    }
    while (changed < CHANGED) await change(changed++);
    let manifest: { output: { type: string; url: string; count: number }[] } | undefined;
    while (manifest === undefined) {
      const answer = await status();
      expect([200, 202]).toContain(answer.status);
      if (answer.status === 200) manifest = (await answer.json()) as NonNullable<typeof manifest>;
      else await sleep(100);
    }
    const seen = new Map<string, number>();
    for (const { url } of manifest.output) {
      const file = await fetch(url.replace(/^.*\/fhir/, servers.base));
      for (const line of (await file.text()).trimEnd().split('\n')) {
        const {
          resourceType,
          id: own,
          meta,
        } = JSON.parse(line) as { resourceType: string; id: string; meta: { versionId: string } };
        expect(meta.versionId, `${resourceType}/${own}`).toBe('1');
        seen.set(`${resourceType}/${own}`, (seen.get(`${resourceType}/${own}`) ?? 0) + 1);
      }
    }
    expect(seen.size).toBe(TYPES.length * EACH);
    expect([...seen].filter(([, count]) => count !== 1)).toEqual([]);
    const end = await fetch(`${servers.base}/$export-poll-status?_jobId=${id}`, { method: 'DELETE' });
    expect(end.status).toBe(202);
  } finally {
    await servers.end();
  }
  const left = await openStore(store);
  expect(await left.blobs.list('export/')).toEqual([]);
  await left.close();
}

function put(type: string, n: number): RequestInit {
  const id = `${type.toLowerCase()}-${n}`;
  const body = type === 'Patient' ? { resourceType: type, id, gender: 'other' } : minimal(type, id);
  return { method: 'PUT', headers: JSON_TYPE, body: JSON.stringify(body) };
}

/** Of other types most need more than this, and the server refuses it: then nothing is changed. */
function minimal(type: string, id: string): object {
  if (type === 'Basic') return { resourceType: type, id, code: { text: 'new' } };
  if (type === 'Organization') return { resourceType: type, id, name: 'new' };
  return { resourceType: type, id };
}

describe('an export whose process is killed three times', () => {
  const folder = mkdtempSync(join(tmpdir(), 'kiln-export-'));
  afterAll(() => rmSync(folder, { recursive: true }));

  it('is whole on SQLite', () => survives(`sqlite:${join(folder, 'kiln.db')}`, 1));
});

describeOnMongod('an export of two processes, of which one is killed three times', () => {
  it('is whole on MongoDB', () => survives(mongodUrl() === undefined ? '' : newDatabase(), 2));
});
