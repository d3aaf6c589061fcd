import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import Database from 'better-sqlite3';
import { MongoClient } from 'mongodb';

import { tables } from '../../generated/tables.js';
import type { Resource } from '../../runtime/fhir/resource.js';
import { createApp } from '../../runtime/http/app.js';
import { listen } from '../../runtime/http/listen.js';
import { openMongoStore } from '../../runtime/store/mongo/mongo-store.js';
import { openSqliteStore } from '../../runtime/store/sqlite/sqlite-store.js';
import type { Store } from '../../runtime/store/store.js';
import { withDatabase } from './bare/bare-search-mongo.js';
import { extract, load } from './data/load-clinic.js';
import type { Bench, Measured, Row } from './measuring/row.js';

const OBSERVATIONS = 100_000;
const CODES = 50;

/** How often each is done, one after another, after once to warm up. */
const TIMES = { count: 7, page: 40 };

/** A store with the Observations, and the same count by means of its own. */
interface Subject {
  readonly name: string;
  readonly store: Store;
  /** @returns how many groups there are */
  readonly count: () => Promise<number> | number;
  readonly close: () => Promise<void>;
}

/**
 * A count by code over 100,000 Observations against the same in the language of the store, and a condition that the search decides
 * against that search. `npm run bench -- hfql --store=mongodb://…` has it use a database of its own there.
 */
export const bench: Bench = async () => {
  const url = process.env['KILN_BENCH_STORE'];
  const subject = url === undefined ? onSqlite() : await onMongo(url);
  const { store, name, count } = subject;
  const server = await listen(createApp({ tables, store, extract }), '127.0.0.1', 0);
  try {
    await load(store, observations());
    const statement = async (query: string): Promise<number> => {
      const parameter = [{ name: 'action', valueCode: 'search' }, { name: 'query', valueString: query }]; // prettier-ignore
      const headers = { 'content-type': 'application/fhir+json' };
      const body = JSON.stringify({ resourceType: 'Parameters', parameter });
      const text = await (await fetch(`${server.url}/fhir/$hfql-execute`, { method: 'POST', headers, body })).text();
      return text.split('\n').length - 3;
    };
    const search = async (params: string): Promise<number> => {
      const { entry } = (await (await fetch(`${server.url}/fhir/Observation?${params}`)).json()) as {
        entry: unknown[];
      };
      return entry.length;
    };
    const code = 'code.coding[0].code';
    const [counted, bare] = await inTurn(
      TIMES.count,
      () => statement(`select ${code}, count(*) from Observation group by ${code}`).then((groups) => expected(groups, CODES)), // prettier-ignore
      async () => expected(await count(), CODES),
    );
    const [found, searched] = await inTurn(
      TIMES.page,
      () => statement("select id, status from Observation where id in search_match('code', 'c7') limit 500").then((rows) => expected(rows, 500)), // prettier-ignore
      () => search('code=c7&_count=500&_total=none').then((entries) => expected(entries, 500)),
    );
    return [
      row(`HFQL ${name}: count by code over 100,000 Observations`, 'counts', counted, 'by hand', bare, 3),
      row(`HFQL ${name}: 500 rows that the search finds`, 'answers', found, 'that search', searched, 1.5),
    ];
  } finally {
    await server.close(0);
    await subject.close();
  }
};

/** @param times how many times as much it may take: of the processor on SQLite; on MongoDB, which is another process, of the time */
function row(name: string, unit: string, measured: Measured, floor: string, base: Measured, times: number): Row {
  const goal = process.env['KILN_BENCH_STORE'] === undefined ? { ratio: 1 / times } : { times };
  return { name, unit, measured, floor: { name: floor, measured: base }, goal };
}

function expected(count: number, wanted: number): number {
  if (count !== wanted) throw new Error(`${count}, not ${wanted}`);
  return count;
}

/** Times of each, one after the other, so that a neighbour's load falls on both. */
async function inTurn(
  often: number,

  ...works: readonly [() => Promise<unknown>, () => Promise<unknown>]
): Promise<[Measured, Measured]> {
  const taken = works.map(() => ({ times: [] as number[], cpuMs: 0 }));
  for (let i = 0; i <= often; i++) {
    for (const [k, work] of works.entries()) {
      const cpu = process.cpuUsage();
      const start = performance.now();
      await work();
      if (i === 0) continue; // warms up
      const { user, system } = process.cpuUsage(cpu);
      taken[k]!.times.push(performance.now() - start);
      taken[k]!.cpuMs += (user + system) / 1000;
    }
  }
  const measured = taken.map(({ times, cpuMs }) => {
    const sorted = [...times].sort((a, b) => a - b);
    const [p50, p99] = [sorted[often >> 1]!, sorted[Math.floor(often * 0.99)]!];
    return { count: often, wallMs: times.reduce((sum, each) => sum + each, 0), cpuMs, times: { p50, p99 } };
  });
  return measured as [Measured, Measured];
}

function onSqlite(): Subject {
  const folder = mkdtempSync(join(tmpdir(), 'kiln-bench-'));
  const file = join(folder, 'kiln.db');
  const store = openSqliteStore(`sqlite:${file}`);
  let db: Database.Database | undefined;
  return {
    ...{ name: 'on SQLite', store },
    count() {
      db ??= new Database(file, { readonly: true });
      return db
        .prepare(
          `SELECT json_extract(v.body, '$.code.coding[0].code') AS code, count(*) AS n FROM resource r JOIN version v ON v.seq = r.seq
           WHERE r.type = (SELECT id FROM term WHERE text = 'Observation') AND r.deleted = 0 GROUP BY code`,
        )
        .all().length;
    },
    async close() {
      db?.close();
      await store.close();
      rmSync(folder, { recursive: true });
    },
  };
}

async function onMongo(url: string): Promise<Subject> {
  const name = `kiln_bench_hfql_${process.pid}`;
  const client = new MongoClient(url);
  const store = await openMongoStore(withDatabase(url, name));
  const first = { $arrayElemAt: ['$resource.code.coding', 0] };
  const code = { $let: { vars: { first }, in: '$$first.code' } };
  return {
    ...{ name: 'on MongoDB', store },
    async count() {
      const match = { type: 'Observation', deleted: { $ne: true } };
      const pipeline = [{ $match: match }, { $group: { _id: code, n: { $sum: 1 } } }];
      return (await client.db(name).collection('resource').aggregate(pipeline).toArray()).length;
    },
    async close() {
      await store.close();
      await client.db(name).dropDatabase();
      await client.close();
    },
  };
}

function* observations(): Iterable<Resource> {
  for (let i = 0; i < OBSERVATIONS; i++) {
    yield {
      ...{ resourceType: 'Observation', id: `o${i}`, status: 'final' },
      code: { coding: [{ system: 'http://loinc.org', code: `c${i % CODES}`, display: 'What was seen' }] },
      subject: { reference: `Patient/p${i % 1000}` },
      effectiveDateTime: '2026-01-01T10:00:00Z',
      valueQuantity: { value: i % 97, unit: 'mg', system: 'http://unitsofmeasure.org', code: 'mg' },
    } as unknown as Resource;
  }
}
