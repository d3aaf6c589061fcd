import { parentPort, workerData } from 'node:worker_threads';

import Database from 'better-sqlite3';

import type { BareAnswer, BareRequest } from './bare-search.js';

// Runs hand-written queries as a server would that wants to go on meanwhile: on a thread, one snapshot each.

const db = new Database((workerData as { file: string }).file, { readonly: true });
db.pragma('cache_size = -8192');
db.pragma('mmap_size = 0');
const statements = new Map<string, Database.Statement<unknown[]>>();

function prepared(sql: string): Database.Statement<unknown[]> {
  const found = statements.get(sql) ?? db.prepare(sql);
  statements.set(sql, found);
  return found;
}

const run = db.transaction(({ page, count, args }: BareRequest): BareAnswer => {
  const rows = prepared(page).all(...args) as BareAnswer['rows'];
  return {
    rows,
    total: prepared(count)
      .pluck()
      .get(...args) as number,
  };
});

parentPort!.on('message', (request: BareRequest) => parentPort!.postMessage(run.deferred(request)));
