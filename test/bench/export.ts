import { createWriteStream, mkdtempSync, rmSync } from 'node:fs';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import Database from 'better-sqlite3';

import { tables } from '../../generated/tables.js';
import { newId } from '../../runtime/fhir/id.js';
import type { JsonObject } from '../../runtime/fhir/resource.js';
import { createServing } from '../../runtime/http/create-services.js';
import { NONE_NEEDED } from '../../runtime/auth/access/needed-scopes.js';
import { SERVER } from '../../runtime/auth/scopes/principal.js';
import { createJobEngine } from '../../runtime/jobs/engine/engine.js';
import { JOB_KINDS } from '../../runtime/jobs/kinds.js';
import { createExtractor } from '../../runtime/indexing/extract.js';
import { openSqliteStore } from '../../runtime/store/sqlite/sqlite-store.js';
import type { Store } from '../../runtime/store/store.js';
import { patients } from './data/patients.js';
import type { Bench, Measured } from './measuring/row.js';

const COUNT = 100_000;
const SET = 200;
const WRITTEN_AT_ONCE = 500;

/** Exports all Patients of a SQLite file, against reading their texts with one statement and writing these into a file. */
export const bench: Bench = async () => {
  const folder = mkdtempSync(join(tmpdir(), 'kiln-bench-'));
  const file = join(folder, 'kiln.db');
  const store = openSqliteStore(`sqlite:${file}`);
  try {
    await fill(store);
    // The first export of a process starts threads, and compiles.
    await exportAll(store);
    const { measured, first, grown } = await exportAll(store);
    const floor = await measureOnce(() => selectAll(file, join(folder, 'floor.ndjson')));
    return [
      {
        ...{ name: '$export', unit: 'resources', measured, goal: { rate: 30_000, ratio: 0.4 } },
        floor: { name: 'SELECT and a file', measured: floor },
      },
      {
        ...{ name: '$export, first file', unit: 'files', goal: { longest: 3000 } },
        measured: { count: 1, wallMs: first, cpuMs: first, times: { p50: first, p99: first, longest: first } },
      },
      {
        name: '$export, memory',
        unit: 'MB',
        measured: { count: Math.max(1, Math.round(grown)), wallMs: 1000, cpuMs: 1000 },
      },
    ];
  } finally {
    await store.close();
    rmSync(folder, { recursive: true });
  }
};

async function fill(store: Store): Promise<void> {
  const bodies = patients(SET).map((patient) =>
    JSON.stringify({ ...patient, id: undefined, meta: undefined, resourceType: undefined }),
  );
  for (let at = 0; at < COUNT; at += WRITTEN_AT_ONCE) {
    const changes = Array.from({ length: WRITTEN_AT_ONCE }, (_, i) => {
      const id = newId();
      const tail = `},${bodies[(at + i) % SET]!.slice(1)}`;
      const body = { head: `{"resourceType":"Patient","id":"${id}","meta":{`, tail };
      return { ...{ type: 'Patient', id, expected: 0, body }, content: { resourceType: 'Patient', id }, entries: [] };
    });
    await store.write(changes);
  }
}

async function exportAll(store: Store) {
  const options = { tables, store, extract: createExtractor(tables) };
  const serving = createServing(options)();
  const engine = createJobEngine({ store, kinds: JOB_KINDS, services: () => serving.services, holder: 'bench', newId, principalOf: () => Promise.resolve(SERVER) }); // prettier-ignore
  const start = performance.now();
  let first = 0;
  let most = 0;
  const idle = process.memoryUsage().rss;
  const measured = await measureOnce(async () => {
    const input = {
      ...{ transactionTime: Date.now(), request: '', base: '', asked: '', isHistory: false },
      ...{ types: ['Patient'], parts: [{ type: 'Patient' }] },
    };
    const { id } = await engine.start('export', input as unknown as JsonObject, SERVER, NONE_NEEDED);
    const watch = setInterval(() => {
      most = Math.max(most, process.memoryUsage().rss);
      void engine.read(id).then((job) => {
        const files = job?.checkpoint?.['files'];
        if (first === 0 && Array.isArray(files) && files.length > 0) first = performance.now() - start;
      });
    }, 20);
    await new Promise((resolve) => setTimeout(resolve, 10));
    await engine.idle();
    clearInterval(watch);
    const job = await engine.read(id);
    if (job?.state !== 'completed' || job.progress.done !== COUNT) throw new Error(JSON.stringify(job));
    return COUNT;
  });
  await engine.close();
  return { measured, first: first === 0 ? measured.wallMs : first, grown: (most - idle) / 2 ** 20 };
}

async function selectAll(file: string, target: string): Promise<number> {
  const db = new Database(file, { readonly: true });
  const out = createWriteStream(target);
  let count = 0;
  let lines: string[] = [];
  for (const body of db.prepare<[], string>('SELECT body FROM version').pluck().iterate()) {
    lines.push(body);
    count++;
    if (lines.length < 1000) continue;
    if (!out.write(`${lines.join('\n')}\n`)) await once(out, 'drain');
    lines = [];
  }
  out.end(`${lines.join('\n')}\n`);
  await once(out, 'close');
  db.close();
  return count;
}

async function measureOnce(work: () => Promise<number>): Promise<Measured> {
  const [cpu, wall] = [process.cpuUsage(), performance.now()];
  const count = await work();
  const { user, system } = process.cpuUsage(cpu);
  return { count, wallMs: performance.now() - wall, cpuMs: (user + system) / 1000 };
}
