import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { tables } from '../../generated/tables.js';
import { createApp } from '../../runtime/http/app.js';
import { listen } from '../../runtime/http/listen.js';
import { createExtractor } from '../../runtime/indexing/extract.js';
import type { ResourceDocument } from '../../runtime/store/mongo/bson/documents.js';
import { openSqliteStore } from '../../runtime/store/sqlite/sqlite-store.js';
import type { Change, Put, Store } from '../../runtime/store/store.js';
import { createValidator } from '../../runtime/validate/create-validator.js';
import { openBare } from './bare/bare-inserts.js';
import { compare, type Work } from './measuring/measure.js';
import type { Bench, Row } from './measuring/row.js';
import { hubs, syntheaBundles } from './data/synthea-bundles.js';

/** Transactions of one round, side by side. */
const BUNDLES = 4;

/**
 * Transactions of the shape that Synthea writes, over HTTP; against the bare store inserting the same bodies and index rows in
 * as many transactions.
 */
export const bench: Bench = async () => {
  const url = process.env['KILN_BENCH_STORE'];
  return [url === undefined ? await onSqlite() : await onMongo(url)];
};

async function onSqlite(): Promise<Row> {
  const folder = mkdtempSync(join(tmpdir(), 'kiln-bench-'));
  const store = openSqliteStore(`sqlite:${join(folder, 'kiln.db')}`);
  const bare = openBare(join(folder, 'bare.db'));
  const insert = async (puts: readonly Put[]): Promise<void> => bare.insertAll(puts);
  try {
    return await measureTransactions('on SQLite', store, insert, 0.4);
  } finally {
    await store.close();
    bare.db.close();
    rmSync(folder, { recursive: true });
  }
}

async function onMongo(url: string): Promise<Row> {
  const [{ MongoClient }, { openMongoStore }, { prepare }, { toIndexRows }, { withDatabase }] = await Promise.all([
    import('mongodb'),
    import('../../runtime/store/mongo/mongo-store.js'),
    import('../../runtime/store/mongo/write/prepare.js'),
    import('../../runtime/store/mongo/bson/index-rows.js'),
    import('./bare/bare-search-mongo.js'),
  ]);
  const names = { kiln: `kiln_bench_${process.pid}`, bare: `kiln_bench_bare_${process.pid}` };
  const client = new MongoClient(url, { writeConcern: { w: 'majority', journal: true } });
  const store = await openMongoStore(withDatabase(url, names.kiln));
  const bare = await prepare(client.db(names.bare), false);
  const toDocument = ({ type, id, content, entries }: Put): ResourceDocument => {
    const { id: _id, meta: _meta, resourceType, ...rest } = content;
    const updated = new Date();
    const meta = { versionId: '1', lastUpdated: updated.toISOString() };
    const resource = { resourceType, id, meta, ...rest };
    return { _id: `${type}/${id}`, type, id, version: 1, updated, n: 0, resource, ...toIndexRows(entries) };
  };
  const insert = async (puts: readonly Put[]): Promise<void> => {
    await client.withSession((session) =>
      session.withTransaction(async () => void (await bare.resource.insertMany(puts.map(toDocument), { session }))),
    );
  };
  try {
    return await measureTransactions('on MongoDB', store, insert, 0.3);
  } finally {
    await store.close();
    for (const name of Object.values(names)) await client.db(name).dropDatabase();
    await client.close();
  }
}

/** @param insert inserts new resources in a transaction of its own */
async function measureTransactions(
  name: string,
  store: Store,
  insert: (puts: readonly Put[]) => Promise<void>,
  ratio: number,
): Promise<Row> {
  const written: Put[][] = [];
  const spied: Store = Object.assign(Object.create(store) as Store, {
    write(changes: readonly Change[], guards?: Parameters<Store['write']>[1]) {
      if (written.length < BUNDLES) written.push(changes.filter((change): change is Put => change.body !== undefined));
      return store.write(changes, guards);
    },
  });
  const bundles = syntheaBundles(BUNDLES);
  const options = { tables, extract: createExtractor(tables), validate: createValidator(tables) };
  const [kiln, first] = await Promise.all([
    listen(createApp({ ...options, store }), '127.0.0.1', 0),
    listen(createApp({ ...options, store: spied }), '127.0.0.1', 0),
  ]);
  const child = fork(new URL('./servers/http-load.js', import.meta.url), [], { execArgv: [] });
  try {
    for (const hub of hubs()) await put(kiln.port, hub as { resourceType: string; id: string });
    const texts = bundles.map(({ text }) => text);
    await load(child, first.port, texts);
    const entries = bundles.reduce((sum, each) => sum + each.entries, 0);
    const work: Work = async () => {
      await load(child, kiln.port, texts);
      return entries;
    };
    const floor: Work = async () => {
      await Promise.all(written.map((puts) => insert(puts.map(renamed))));
      return entries;
    };
    const { measured, floor: base } = await compare(work, floor, { rounds: 3, roundMs: 1500 });
    return {
      name: `transaction ${name}`,
      unit: 'resources',
      measured,
      floor: { name: 'bare inserts', measured: base },
      goal: { ratio, rate: 1000 },
    };
  } finally {
    child.disconnect();
    await kiln.close(0);
    await first.close(0);
  }
}

let renames = 0;

/** The same under an id that nobody has had. */
function renamed(put: Put): Put {
  const id = `r${renames++}`;
  return { ...put, id, body: { ...put.body, head: `{"resourceType":"${put.type}","id":"${id}","meta":{` } };
}

async function put(port: number, resource: { resourceType: string; id: string }): Promise<void> {
  const answer = await fetch(`http://127.0.0.1:${port}/fhir/${resource.resourceType}/${resource.id}`, {
    method: 'PUT',
    body: JSON.stringify(resource),
    headers: { 'content-type': 'application/fhir+json' },
  });
  if (!answer.ok) throw new Error(await answer.text());
}

/** Posts all Bundles, each on a connection of its own. */
async function load(child: ChildProcess, port: number, texts: readonly string[]): Promise<void> {
  const requests = texts.map(
    (text) =>
      `POST /fhir/ HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nAccept: application/fhir+json\r\n` +
      `Content-Type: application/fhir+json\r\nContent-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`,
  );
  child.send({ port, requests, count: requests.length });
  const [count] = (await Promise.race([once(child, 'message'), once(child, 'close')])) as [unknown, unknown];
  if (count !== requests.length) throw new Error(`the client failed: ${String(count)}`);
}
