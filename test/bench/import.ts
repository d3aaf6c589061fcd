import { createReadStream, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { tables } from '../../generated/tables.js';
import { loadItems } from '../../runtime/cli/load/load-items.js';
import { readItems } from '../../runtime/cli/load/items.js';
import { readDocuments } from '../../runtime/cli/load/read-documents.js';
import { storeSink } from '../../runtime/cli/load/store-sink.js';
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
import { createValidator } from '../../runtime/validate/create-validator.js';
import { patients } from './data/patients.js';
import type { Bench, Measured } from './measuring/row.js';

const COUNT = Number(process.env['KILN_BENCH_IMPORT'] ?? 20_000);
const SET = 200;
/** What compiles the code of both before they are measured. */
const FIRST = 2000;

/** Imports Patients into a SQLite file, against `kiln load` of the same ones. */
export const bench: Bench = async () => {
  const folder = mkdtempSync(join(tmpdir(), 'kiln-bench-'));
  try {
    const file = join(folder, 'patients.ndjson');
    const few = join(folder, 'few.ndjson');
    writeFileSync(file, linesOf(COUNT));
    writeFileSync(few, linesOf(FIRST));
    const floor = await withStore(join(folder, 'load.db'), async (store) => {
      await loadAll(store, few);
      return measureOnce(() => loadAll(store, file));
    });
    const measured = await withStore(join(folder, 'import.db'), async (store) => {
      await importAll(store, few);
      return measureOnce(() => importAll(store, file));
    });
    return [{ name: '$import', unit: 'resources', measured, floor: { name: 'kiln load', measured: floor }, goal: { ratio: 0.6 } }]; // prettier-ignore
  } finally {
    rmSync(folder, { recursive: true });
  }
};

function linesOf(count: number): string {
  const bodies = patients(SET).map((patient) => JSON.stringify({ ...patient, id: undefined, meta: undefined }));
  return Array.from({ length: count }, (_, n) => `{"id":"n${count}-${n}",${bodies[n % SET]!.slice(1)}\n`).join('');
}

async function withStore(file: string, work: (store: Store) => Promise<Measured>): Promise<Measured> {
  const store = openSqliteStore(`sqlite:${file}`);
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}

function servicesOf(store: Store) {
  const options = { tables, store, extract: createExtractor(tables), validate: createValidator(tables) };
  return createServing(options)().services;
}

async function loadAll(store: Store, path: string): Promise<number> {
  const documents = readDocuments([{ path, size: 0, named: true }], () => {}, 1024 ** 3);
  const items = readItems(documents, { resourceTypes: tables.resourceTypes, bundles: 'store' });
  const counts = await loadItems(items, storeSink(servicesOf(store)), (place, error) => {
    throw new Error(`${place}: ${String(error)}`);
  });
  return counts.created;
}

async function importAll(store: Store, path: string): Promise<number> {
  const services = servicesOf(store);
  const engine = createJobEngine({ store, kinds: JOB_KINDS, services: () => services, holder: path, newId, principalOf: () => Promise.resolve(SERVER) }); // prettier-ignore
  await store.blobs.put(path, createReadStream(path), Infinity);
  const input = { request: '', base: '', files: [{ url: 'Binary/x', key: path, type: 'Patient' }], types: ['Patient'] };
  const { id } = await engine.start('import', input as unknown as JsonObject, SERVER, NONE_NEEDED);
  await new Promise((resolve) => setTimeout(resolve, 10));
  await engine.idle();
  const job = await engine.read(id);
  await engine.close();
  const [counts] = (job?.result?.['counts'] ?? []) as { created: number; failed: number }[];
  if (counts === undefined || counts.failed > 0) throw new Error(JSON.stringify(job));
  return counts.created;
}

async function measureOnce(work: () => Promise<number>): Promise<Measured> {
  const [cpu, wall] = [process.cpuUsage(), performance.now()];
  const count = await work();
  const { user, system } = process.cpuUsage(cpu);
  return { count, wallMs: performance.now() - wall, cpuMs: (user + system) / 1000 };
}
