import { Worker } from 'node:worker_threads';

import Database from 'better-sqlite3';

import type { Resource } from '../../../runtime/fhir/resource.js';
import { BARE_COLUMNS, BARE_INDEXES } from './bare-columns.js';
import type { ColumnTest, SearchCase } from '../data/search-cases.js';

/** A query written by hand: a page, and the total where it is at most 1,000. */
export interface BareRequest {
  readonly page: string;
  readonly count: string;
  readonly args: readonly unknown[];
}

/** What it finds. */
export interface BareAnswer {
  /** A body is text, or a document. */
  readonly rows: readonly { readonly id: string; readonly body: string | object }[];
  readonly total: number;
}

/** Searches on tables made for them. */
export interface BareSearch {
  /** A page of so many, and the total where it is at most 1,000. */
  run(search: SearchCase, count: number): Promise<BareAnswer>;
  close(): Promise<void>;
}

/** A file with a table for each type, its columns what queries ask for, and the thread that runs them. */
export async function openBareSqlite(file: string, resources: Iterable<Resource>): Promise<BareSearch> {
  fill(file, resources);
  const worker = new Worker(new URL('./bare-search-worker.js', import.meta.url), { workerData: { file } });
  // Answers come in the order of the requests.
  const waiting: ((answer: BareAnswer) => void)[] = [];
  worker.on('message', (answer: BareAnswer) => waiting.shift()?.(answer));
  return {
    run(search, count) {
      worker.postMessage(toRequest(search, count));
      return new Promise((resolve) => waiting.push(resolve));
    },
    close: async () => void (await worker.terminate()),
  };
}

function fill(file: string, resources: Iterable<Resource>): void {
  const db = new Database(file);
  db.pragma('journal_mode = WAL');
  db.pragma('synchronous = OFF');
  const inserts = new Map<string, (resource: Resource) => void>();
  for (const [type, columns] of Object.entries(BARE_COLUMNS)) {
    const names = Object.keys(columns);
    db.exec(`CREATE TABLE ${type} (id TEXT PRIMARY KEY, body TEXT, ${names.join(', ')})`);
    for (const [n, index] of (BARE_INDEXES[type] ?? []).entries())
      db.exec(
        `CREATE INDEX ${type}_${n} ON ${type} (${index.map(([column, direction]) => `${column} ${direction}`).join()})`,
      );
    const insert = db.prepare(`INSERT INTO ${type} VALUES (?, ?${', ?'.repeat(names.length)})`);
    inserts.set(type, (resource) => {
      insert.run(resource['id'], JSON.stringify(resource), ...Object.values(columns).map((read) => read(resource)));
    });
  }
  db.transaction(() => {
    for (const resource of resources) inserts.get(resource.resourceType)?.(resource);
  })();
  db.exec('ANALYZE');
  db.pragma('wal_checkpoint(TRUNCATE)');
  db.close();
}

const SIGNS = { gt: '>', gte: '>=', lt: '<' } as const;

function toRequest({ type, columns, order }: SearchCase, count: number): BareRequest {
  const tests = Object.entries(columns).flatMap(([column, test]) => toTests(column, test));
  const where = ['1', ...tests.map(([text]) => text)].join(' AND ');
  const by = [...(order === undefined ? [] : [order.join(' ')]), 'id'].join();
  return {
    page: `SELECT id, body FROM ${type} WHERE ${where} ORDER BY ${by} LIMIT ${count + 1}`,
    count: `SELECT count(*) FROM (SELECT 1 FROM ${type} WHERE ${where} LIMIT 1001)`,
    args: tests.map(([, value]) => value),
  };
}

function toTests(column: string, test: ColumnTest): [string, string | number][] {
  if (typeof test !== 'object') return [[`${column} = ?`, test]];
  return Object.entries(test).map(([sign, value]) => [`${column} ${SIGNS[sign as keyof typeof SIGNS]} ?`, value]);
}
