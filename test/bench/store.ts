import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { tables } from '../../generated/tables.js';
import type { Resource } from '../../runtime/fhir/resource.js';
import { createExtractor } from '../../runtime/indexing/extract.js';
import { openSqliteStore } from '../../runtime/store/sqlite/sqlite-store.js';
import type { Put } from '../../runtime/store/store.js';
import { openBare } from './bare/bare-inserts.js';
import { compare, measure } from './measuring/measure.js';
import { patients } from './data/patients.js';
import type { Bench } from './measuring/row.js';

const SET = 200;

/** Writes through the store against the same inserts done bare, one commit each; and reads by id. */
export const bench: Bench = async () => {
  const folder = mkdtempSync(join(tmpdir(), 'kiln-bench-'));
  const extract = createExtractor(tables);
  const templates = patients(SET).map((patient) => {
    const content = patient as unknown as Resource;
    const json = JSON.stringify({ ...patient, id: undefined, meta: undefined, resourceType: undefined });
    return { content, entries: extract(content), tail: `},${json.slice(1)}` };
  });
  let created = 0;
  const next = (): Put => {
    const id = `b${created++}`;
    const { content, entries, tail } = templates[created % SET]!;
    return {
      type: 'Patient',
      id,
      expected: 0,
      body: { head: `{"resourceType":"Patient","id":"${id}","meta":{`, tail },
      content: { ...content, id },
      entries,
    };
  };

  const store = openSqliteStore(`sqlite:${join(folder, 'kiln.db')}`);
  const bare = openBare(join(folder, 'bare.db'));
  const write = async (clients: number): Promise<number> => {
    const each = 10;
    const client = async (): Promise<void> => {
      for (let n = 0; n < each; n++) await store.write([next()]);
    };
    await Promise.all(Array.from({ length: clients }, client));
    return clients * each;
  };
  const insert = (): number => {
    for (let n = 0; n < 20; n++) bare.insert(next());
    return 20;
  };
  try {
    const floor = 'bare inserts';
    const [one, eight, many] = [
      await compare(() => write(1), insert),
      await compare(() => write(8), insert),
      await compare(() => write(64), insert),
    ];
    const ids = Array.from({ length: 1000 }, (_, n) => `b${n * 2}`);
    const known = (await store.readMany(ids.map((id) => ({ type: 'Patient', id })))).flatMap(
      (found) => found?.id ?? [],
    );
    const reads = await measure(async () => {
      for (const id of known) await store.read('Patient', id);
      return known.length;
    });
    const history = await measure(async () => {
      for (let n = 0; n < 20; n++) await store.history({ type: 'Patient', count: 20 });
      return 20;
    });
    return [
      {
        name: 'store write, 1 client',
        unit: 'writes',
        measured: one.measured,
        floor: { name: floor, measured: one.floor },
      },
      {
        name: 'store write, 8 clients',
        unit: 'writes',
        measured: eight.measured,
        floor: { name: floor, measured: eight.floor },
        goal: { ratio: 0.4 },
      },
      {
        name: 'store write, 64 clients',
        unit: 'writes',
        measured: many.measured,
        floor: { name: floor, measured: many.floor },
        goal: { ratio: 0.4 },
      },
      { name: 'store read by id', unit: 'reads', measured: reads, goal: { rate: 20_000 } },
      { name: 'store history page of 20', unit: 'pages', measured: history },
    ];
  } finally {
    await store.close();
    bare.db.close();
    rmSync(folder, { recursive: true });
  }
};
