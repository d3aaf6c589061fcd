import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { tables } from '../../generated/tables.js';
import { NONE_NEEDED } from '../../runtime/auth/access/needed-scopes.js';
import type { Call } from '../../runtime/core/call.js';
import { SERVER } from '../../runtime/auth/scopes/principal.js';
import { newId } from '../../runtime/fhir/id.js';
import type { JsonObject } from '../../runtime/fhir/resource.js';
import { createServing } from '../../runtime/http/create-services.js';
import { createJobEngine } from '../../runtime/jobs/engine/engine.js';
import { JOB_KINDS } from '../../runtime/jobs/kinds.js';
import { createExtractor, type Extractor } from '../../runtime/indexing/extract.js';
import { openSqliteStore } from '../../runtime/store/sqlite/sqlite-store.js';
import type { Store } from '../../runtime/store/store.js';
import { compileView } from '../../runtime/views/compile-view.js';
import { partOf } from '../../runtime/views/operations/filters.js';
import { readView } from '../../runtime/views/read-view.js';
import type { Bench, Row } from './measuring/row.js';

const COUNT = 1_000_000;
/** Observations of which one code is exported, and how many codes there are. */
const [INDEXED, CODES] = [300_000, 100];
/** Exported before: the first export of a process starts threads, and compiles. */
const WARMING = 20_000;
const WRITTEN_AT_ONCE = 500;

const PATHS = {
  id: 'getResourceKey()',
  status: 'status',
  code: 'code.coding.code.first()',
  patient: 'subject.getReferenceKey(Patient)',
  at: 'effective.ofType(dateTime)',
  value: 'value.ofType(Quantity).value',
  unit: 'value.ofType(Quantity).unit',
  issued: 'issued',
};

const VIEW: JsonObject = {
  ...{ resourceType: 'ViewDefinition', status: 'active', resource: 'Observation' },
  select: [{ column: Object.entries(PATHS).map(([name, path]) => ({ name, path })) }],
};

/** Megabytes that the process may grow by, over what it was after the first export. */
const MOST_GROWN = 60;

/** Exports the table of a view of 1,000,000 Observations with 8 columns, as csv. */
export const bench: Bench = async () => {
  const folder = mkdtempSync(join(tmpdir(), 'kiln-bench-'));
  const store = openSqliteStore(`sqlite:${join(folder, 'kiln.db')}`);
  try {
    await fill(store, 0, WARMING);
    await exportTable(store, WARMING);
    await fill(store, WARMING, COUNT);
    globalThis.gc?.();
    const { measured, grown } = await exportTable(store, COUNT);
    if (grown >= MOST_GROWN) throw new Error(`the export takes ${Math.round(grown)} MB, not less than ${MOST_GROWN}`);
    return [
      { name: '$sql-export, 8 columns', unit: 'rows', measured, goal: { rate: 30_000 } },
      await narrowed(folder),
      {
        name: '$sql-export, memory',
        unit: 'MB',
        measured: { count: Math.max(1, Math.round(grown)), wallMs: 1000, cpuMs: 1000 },
      },
    ];
  } finally {
    await store.close();
    rmSync(folder, { recursive: true });
  }
};

/**
 * Exports the rows of one code of a hundred among 300,000 Observations, while a client writes ten resources a second: by the index of the
 * code, against a condition of the same meaning that no index answers.
 */
async function narrowed(folder: string): Promise<Row> {
  const store = openSqliteStore(`sqlite:${join(folder, 'indexed.db')}`);
  const extract = createExtractor(tables);
  try {
    await fill(store, 0, INDEXED, extract);
    const writer = setInterval(() => void writeBasic(store), 100);
    try {
      const code = "code.coding.exists(code = '1-1')";
      const where = (path: string): JsonObject => ({ ...VIEW, where: [{ path }] });
      await exportTable(store, INDEXED / CODES, where(code));
      const { measured } = await exportTable(store, INDEXED / CODES, where(code));
      const { measured: floor } = await exportTable(store, INDEXED / CODES, where(`${code}.not().not()`));
      return { name: '$sql-export of one code', unit: 'rows', measured, floor: { name: 'without its index', measured: floor }, goal: { ratio: 1.34 } }; // prettier-ignore
    } finally {
      clearInterval(writer);
    }
  } finally {
    await store.close();
  }
}

async function writeBasic(store: Store): Promise<void> {
  const id = newId();
  const content = { resourceType: 'Basic', id };
  const body = { head: `{"resourceType":"Basic","id":"${id}","meta":{`, tail: '}}' };
  await store.write([{ type: 'Basic', id, expected: 0, body, content, entries: [] }]);
}

async function fill(store: Store, from: number, to: number, extract?: Extractor): Promise<void> {
  const note = 'x'.repeat(500);
  for (let at = from; at < to; at += WRITTEN_AT_ONCE) {
    const changes = Array.from({ length: Math.min(WRITTEN_AT_ONCE, to - at) }, (_, i) => {
      const n = at + i;
      const id = `o${n}`;
      const content = {
        ...{ status: 'final', code: { coding: [{ system: 'http://loinc.org', code: `${n % CODES}-1` }] } },
        ...{ subject: { reference: `Patient/p${n % 1000}` }, effectiveDateTime: '2020-01-02T03:04:05Z' },
        ...{
          issued: '2020-01-02T03:04:05.678+02:00',
          valueQuantity: { value: n % 200, unit: 'mg' },
          note: [{ text: note }],
        },
      };
      const body = {
        head: `{"resourceType":"Observation","id":"${id}","meta":{`,
        tail: `},${JSON.stringify(content).slice(1)}`,
      };
      return {
        ...{ type: 'Observation', id, expected: 0, body },
        content: { resourceType: 'Observation', id },
        entries: extract?.({ resourceType: 'Observation', id, ...content }) ?? [],
      };
    });
    await store.write(changes);
  }
}

async function exportTable(store: Store, expected: number, definition = VIEW) {
  const serving = createServing({ tables, store, extract: createExtractor(tables) })();
  const engine = createJobEngine({ store, kinds: JOB_KINDS, services: () => serving.services, holder: 'bench', newId, principalOf: () => Promise.resolve(SERVER) }); // prettier-ignore
  const idle = process.memoryUsage.rss();
  let most = 0;
  const watch = setInterval(() => (most = Math.max(most, process.memoryUsage.rss())), 20);
  const [cpu, wall] = [process.cpuUsage(), performance.now()];
  const view = { name: 'table', definition, format: 'csv', hasHeader: true };
  const call: Call = { interaction: 'operation', principal: SERVER, base: '', params: new URLSearchParams(), conditions: {}, prefer: {} }; // prettier-ignore
  const part = await partOf(compileView(readView(definition), tables, { now: new Date() }), {}, call, serving.services);
  const input = {
    ...{ transactionTime: Date.now(), request: '', base: '', asked: '', isHistory: false },
    ...{ types: ['Observation'], parts: [{ ...part, view }] },
  };
  const { id } = await engine.start('sql-export', input as unknown as JsonObject, SERVER, NONE_NEEDED);
  await sleep(10);
  await engine.idle();
  clearInterval(watch);
  const { user, system } = process.cpuUsage(cpu);
  const job = await engine.read(id);
  await engine.close();
  const [file] = (job?.result?.['files'] ?? []) as unknown as readonly { readonly count: number }[];
  if (file?.count !== expected) throw new Error(JSON.stringify(job).slice(0, 1000));
  const measured = { count: expected, wallMs: performance.now() - wall, cpuMs: (user + system) / 1000 };
  return { measured, grown: (most - idle) / 2 ** 20 };
}
