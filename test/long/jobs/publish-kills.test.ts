import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, describe, expect, it } from 'vitest';

import { describeOnMongod, mongodUrl, newDatabase } from '../../mongod/for-tests.js';
import { createClient } from '../http-client.js';
import { Servers } from '../servers.js';
import { soak } from '../soak.js';

/** Rounds of writing; a process is killed within every second one. */
const ROUNDS = soak(6);

const ORGANIZATIONS = 40;

interface Manifest {
  readonly epochStartTime: string;
  readonly transactionTime: string;
  readonly output: readonly { readonly url: string; readonly count: number }[];
  readonly deleted: readonly { readonly url: string; readonly count: number }[];
}

interface Line {
  readonly id: string;
  readonly meta: { readonly versionId: string };
  readonly entry: readonly { readonly request: { readonly url: string } }[];
}

/** Publishing while clients write and processes are killed: who follows the manifests has what there is, and got nothing twice. */
async function publishes(url: string, processes: number): Promise<void> {
  const servers = new Servers(url, ['--publish-types', 'Organization', '--publish-every', '1s']);
  const client = createClient(4, 60_000);
  const known = new Map<string, string>();
  const seen = new Set<string>();
  const came: string[] = [];
  let epoch = '';
  let epochs = 0;
  let time = '';

  async function take(): Promise<void> {
    const answer = await fetch(`${servers.base}/$bulk-publish`);
    if (answer.status === 503) return;
    const text = await answer.text();
    expect(answer.status, text).toBe(200);
    const manifest = JSON.parse(text) as Manifest;
    const { output, deleted } = manifest;
    if (manifest.epochStartTime !== epoch) {
      known.clear();
      came.length = 0;
      epochs++;
    }
    ({ epochStartTime: epoch, transactionTime: time } = manifest);
    const fresh = async (items: Manifest['output']): Promise<readonly Line[]> => {
      const lines: Line[] = [];
      for (const item of items) {
        // Another process has another base.
        const path = item.url.replace(/^.*\/fhir/, '');
        if (seen.has(path)) continue;
        const file = await fetch(`${servers.base}${path}`, { headers: { accept: 'application/fhir+ndjson' } });
        const read = (await file.text()).split('\n').filter((line) => line !== '');
        expect([file.status, read.length], path).toEqual([200, item.count]);
        lines.push(...read.map((line) => JSON.parse(line) as Line));
        seen.add(path);
      }
      return lines;
    };
    for (const { id, meta } of await fresh(output)) {
      known.set(id, meta.versionId);
      came.push(`${id}/${meta.versionId}`);
    }
    for (const { entry } of await fresh(deleted))
      for (const { request } of entry) known.delete(request.url.slice('Organization/'.length));
    expect(new Set(came).size, 'a version came twice').toBe(came.length);
  }

  let writes = 0;
  let isOver = false;
  const write = async (): Promise<void> => {
    while (!isOver) {
      writes++;
      // Some go, and a few of these come again.
      const short = Math.floor(writes / 10);
      const isGone = writes % 10 === 9;
      const isShort = isGone || writes % 10 === 5;
      const id = isShort ? `s${writes % 300 === 5 ? short - 1 : short}` : `o${writes % ORGANIZATIONS}`;
      try {
        const body = isGone ? undefined : { resourceType: 'Organization', id, name: `${writes}` };
        await client(servers.base, isGone ? 'DELETE' : 'PUT', `/Organization/${id}`, body);
      } catch {
        // Its process was killed.
      }
      await sleep(20);
    }
  };
  try {
    for (let n = 0; n < processes; n++) await servers.start();
    const writer = write();
    for (let round = 0; round < ROUNDS; round++) {
      await sleep(4000);
      await take();
      if (round % 2 === 0) continue;
      if (processes === 1) {
        await servers.kill();
        await servers.start();
      } else {
        await servers.start();
        await servers.kill();
      }
    }
    isOver = true;
    await writer;
    const end = new Date().toISOString();
    while (time <= end) {
      await sleep(500);
      await take();
    }
    const answer = await client(servers.base, 'GET', '/Organization?_count=1000');
    const { entry = [] } = JSON.parse(answer.text) as { entry?: { resource: Line }[] };
    const there = new Map(entry.map(({ resource }) => [resource.id, resource.meta.versionId]));
    console.log(`${writes} writes, ${seen.size} files, ${epochs} epochs, ${there.size} resources at the end`);
    expect([...known].sort()).toEqual([...there].sort());
    expect(seen.size).toBeGreaterThan(1);
  } finally {
    isOver = true;
    client.close();
    await servers.end();
  }
}

describe('publishing by a process that is killed again and again', () => {
  const folder = mkdtempSync(join(tmpdir(), 'kiln-publish-'));
  afterAll(() => rmSync(folder, { recursive: true }));

  it('misses nothing and repeats nothing on SQLite', () => publishes(`sqlite:${join(folder, 'kiln.db')}`, 1));
});

describeOnMongod('publishing by two processes, of which one is killed again and again', () => {
  it('misses nothing and repeats nothing on MongoDB', () =>
    publishes(mongodUrl() === undefined ? '' : newDatabase(), 2));
});
