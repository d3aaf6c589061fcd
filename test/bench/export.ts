import { createWriteStream, mkdtempSync, rmSync } from 'node:fs';
import { once } from 'node:events';
import { Agent } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

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
import { clinic } from './data/clinic.js';
import { patients } from './data/patients.js';
import type { Bench, Measured, Row } from './measuring/row.js';
import { cpuOf, MONGO_REST } from './measuring/waits.js';
import { startKiln, STORE } from './servers/kiln-server.js';
import { sender, timesOf } from './servers/send.js';

const COUNT = 100_000;
const SET = 200;
const WRITTEN_AT_ONCE = 500;

/** A clinic's records on a server that is a process of its own, and clients that read them. */
const [RECORDS, CLIENTS] = [30_000, 8];

/** How long clients read before they are measured, and then, in milliseconds. */
const [WARM_UP, RUN] = [2000, 10_000];

/** Between two questions whether an export has ended, in milliseconds: each is a request that it makes room for. */
const PAUSE = 250;

/** Resources per CPU-second of the server. */
const RATE = STORE === 'SQLite' ? 30_000 : 15_000;

/**
 * `$export` in this process and, on the store that is asked for with `--store=mongodb://…`, of a server of `dist/`: by itself, and while
 * eight clients read, whose times are measured with and without.
 */
export const bench: Bench = async () => [
  ...(STORE === 'SQLite' ? await inThisProcess() : []),
  ...(await besideClients()),
];

async function besideClients(): Promise<Row[]> {
  const records = clinic(RECORDS);
  const resources = [...records.resources];
  const server = await startKiln('.', true, resources);
  const agent = new Agent({ keepAlive: true, maxSockets: CLIENTS });
  const send = sender(server.base, agent);
  let asked = 0;
  const read = (): Promise<string> => {
    const patient = records.patients[(asked * 31) % records.patients.length]!;
    return send('GET', asked++ % 10 < 6 ? `/Patient/${patient}` : `/Observation?patient=${patient}&_count=10`);
  };
  try {
    if (STORE === 'MongoDB') await sleep(MONGO_REST);
    await exportOnce(server.base);
    const [cpu, begun] = [cpuOf(server.pid), performance.now()];
    await exportOnce(server.base);
    const alone = { count: RECORDS, wallMs: performance.now() - begun, cpuMs: cpuOf(server.pid) - cpu };
    await timesOf(CLIENTS, read, WARM_UP);
    const measure = async (): Promise<Measured> => {
      const before = cpuOf(server.pid);
      const times = await timesOf(CLIENTS, read, RUN);
      const at = (share: number): number => times[Math.floor(times.length * share)]!;
      const shown = { p50: at(0.5), p99: at(0.99), longest: times.at(-1)! };
      return { count: times.length, wallMs: RUN, cpuMs: cpuOf(server.pid) - before, times: shown };
    };
    const without = await measure();
    let isOver = false;
    const exporting = (async (): Promise<void> => {
      while (!isOver) await exportOnce(server.base);
    })();
    await sleep(1000);
    const within = await measure();
    isOver = true;
    await exporting;
    return [
      { name: `${STORE}, $export of a server`, unit: 'resources', measured: alone, goal: { rate: RATE } },
      {
        ...{ name: `${STORE}, 8 clients beside $export`, unit: 'requests', measured: within, goal: { times: 2 } },
        floor: { name: 'without', measured: without },
      },
    ];
  } finally {
    agent.destroy();
    await server.stop();
  }
}

/** Exports all, and removes the files. */
async function exportOnce(base: string): Promise<void> {
  const headers = { prefer: 'respond-async', 'cache-control': 'no-cache' };
  const started = await fetch(`${base}/$export`, { headers });
  const status = started.headers.get('content-location') ?? '';
  if (started.status !== 202) throw new Error(await started.text());
  for (;;) {
    const answer = await fetch(status);
    const text = await answer.text();
    if (answer.status === 200) break;
    if (answer.status !== 202) throw new Error(text);
    await sleep(PAUSE);
  }
  await fetch(status, { method: 'DELETE' });
}

/** Exports all Patients of a SQLite file, against reading their texts with one statement and writing these into a file. */
async function inThisProcess(): Promise<Row[]> {
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
}

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
