import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, describe, expect, it } from 'vitest';

import { mergeParameters, undoMergeParameters } from '../../http/operations/replacement-support.js';
import { describeOnMongod, mongodUrl, newDatabase } from '../../mongod/for-tests.js';
import { Servers } from '../servers.js';

const REFERRERS = 2000;
const KILLS = 3;
/** Resources that clients write meanwhile, which refer to the source. */
const LATE = 30;

const HEADERS = { 'content-type': 'application/fhir+json' };

/** A merge whose process is killed again and again while clients write: it ends whole, each resource is changed once, and it can be undone. */
async function survives(store: string, processes: number): Promise<void> {
  const servers = new Servers(store);
  const call = async (path: string, init: RequestInit = {}) => {
    const answer = await fetch(`${servers.base}${path}`, { headers: HEADERS, ...init });
    return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
  };
  const post = (path: string, body: object, headers = {}) =>
    call(path, { method: 'POST', body: JSON.stringify(body), headers: { ...HEADERS, ...headers } });
  const put = (id: string, subject: string) => ({
    resource: { ...{ resourceType: 'Observation', id, status: 'final' }, ...{ code: { text: id }, subject: { reference: subject } } }, // prettier-ignore
    request: { method: 'PUT', url: `Observation/${id}` },
  });
  const count = async (query: string): Promise<number> =>
    (await call(`/Observation?${query}&_summary=count`)).body['total'] as number;
  try {
    for (let n = 0; n < processes; n++) await servers.start();
    const patients = ['a', 'b'].map((id) => ({ resource: { resourceType: 'Patient', id }, request: { method: 'PUT', url: `Patient/${id}` } })); // prettier-ignore
    await post('', { resourceType: 'Bundle', type: 'transaction', entry: patients });
    for (let from = 0; from < REFERRERS; from += 1000) {
      const entry = Array.from({ length: 1000 }, (_, n) => put(`o${from + n}`, 'Patient/a'));
      expect((await post('', { resourceType: 'Bundle', type: 'transaction', entry })).status).toBe(200);
    }
    const started = await post('/Patient/$merge', mergeParameters('Patient/a', 'Patient/b'), { prefer: 'respond-async' }); // prettier-ignore
    expect(started.status).toBe(202);
    const { parameter } = started.body as { parameter: { name: string; resource: { id: string } }[] };
    const task = `/Task/${parameter.find(({ name }) => name === 'task')!.resource.id}`;
    let late = 0;
    for (let n = 1; n <= KILLS; n++) {
      const goal = (REFERRERS * n) / (KILLS + 1);
      for (;;) {
        if ((await count('subject=Patient/b')) >= goal) break;
        if (late < LATE) await post('', { resourceType: 'Bundle', type: 'batch', entry: [put(`a-late-${late++}`, 'Patient/a')] }); // prettier-ignore
        await sleep(20);
      }
      await servers.kill();
      await servers.start();
    }
    let status: unknown;
    do {
      await sleep(100);
      status = String((await call(task)).body['status']);
    } while (status === 'in-progress');
    expect(status).toBe('completed');
    expect(await count('subject=Patient/a')).toBe(0);
    expect(await count('subject=Patient/b')).toBe(REFERRERS + late);
    const versions = new Set<string>();
    for (let at = `/Observation?_count=1000&_elements=id`; at !== '';) {
      const { body } = await call(at);
      const { entry = [], link } = body as {
        entry?: { resource: { meta: { versionId: string } } }[];
        link: { relation: string; url: string }[];
      };
      for (const { resource } of entry) versions.add(resource.meta.versionId);
      const next = link.find(({ relation }) => relation === 'next');
      at = next === undefined ? '' : next.url.replace(/^.*\/fhir/, '');
    }
    expect([...versions]).toEqual(['2']);
    const undone = await post('/Patient/$svc.fhir.undo-merge', undoMergeParameters('Patient/a', 'Patient/b'));
    expect(undone.status, JSON.stringify(undone.body)).toBe(200);
    expect(await count('subject=Patient/a')).toBe(REFERRERS + late);
    expect((await call('/Patient/a')).body).not.toHaveProperty('link');
  } finally {
    await servers.end();
  }
}

describe('a merge whose process is killed three times', () => {
  const folder = mkdtempSync(join(tmpdir(), 'kiln-merge-'));
  afterAll(() => rmSync(folder, { recursive: true }));

  it('ends whole on SQLite', () => survives(`sqlite:${join(folder, 'kiln.db')}`, 1));
});

describeOnMongod('a merge of two processes, of which one is killed three times', () => {
  it('ends whole on MongoDB', () => survives(mongodUrl() === undefined ? '' : newDatabase(), 2));
});
