import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import type { RequestListener } from 'node:http';

import express from 'express';
import { Int32, MongoClient } from 'mongodb';

import { tables } from '../../generated/tables.js';
import type { Resource } from '../../runtime/fhir/resource.js';
import { createApp } from '../../runtime/http/app.js';
import { listen } from '../../runtime/http/listen.js';
import { createExtractor } from '../../runtime/indexing/extract.js';
import type { Collections, ResourceDocument } from '../../runtime/store/mongo/bson/documents.js';
import { toIndexRows } from '../../runtime/store/mongo/bson/index-rows.js';
import { openMongoStore } from '../../runtime/store/mongo/mongo-store.js';
import { prepare } from '../../runtime/store/mongo/write/prepare.js';
import type { Put, Store } from '../../runtime/store/store.js';
import { createValidator } from '../../runtime/validate/create-validator.js';
import { withDatabase } from './bare/bare-search-mongo.js';
import { compare } from './measuring/measure.js';
import { patients } from './data/patients.js';
import type { Bench, Row } from './measuring/row.js';

/** Changes of one write, as a transaction Bundle has them. */
const AT_ONCE = 100;
/** Clients that write to the store at the same time, without HTTP. */
const CLIENTS = 16;
const PACE = { rounds: 4, roundMs: 1000 };

/**
 * Kiln on MongoDB against the bare driver that reads and writes the same documents under the same indexes: over HTTP behind
 * bare Express, and without HTTP. `npm run bench -- --store=mongodb://…` has it use databases of its own there.
 */
export const bench: Bench = async () => {
  const url = process.env['KILN_BENCH_STORE'];
  if (url === undefined) throw new Error('say where: npm run bench -- --store=mongodb://HOST');
  const names = { kiln: `kiln_bench_${process.pid}`, bare: `kiln_bench_bare_${process.pid}` };
  const client = new MongoClient(url, {
    writeConcern: { w: 'majority', journal: true },
    readConcern: { level: 'majority' },
    maxPoolSize: 50,
  });
  const store = await openMongoStore(withDatabase(url, names.kiln));
  const bare = await prepare(client.db(names.bare), false);
  const child = fork(new URL('./servers/http-load.js', import.meta.url), [], { execArgv: [] });
  try {
    return [...(await overHttp(store, bare, child)), ...(await withoutHttp(store, client, bare))];
  } finally {
    child.disconnect();
    await store.close();
    for (const name of Object.values(names)) await client.db(name).dropDatabase();
    await client.close();
  }
};

const [OFFICIAL] = patients(1) as unknown as Resource[];
const extract = createExtractor(tables);

/** A Patient under this id, without `meta`. */
function patient(id: string): Resource {
  const { meta: _meta, ...rest } = OFFICIAL!;
  return { ...rest, resourceType: 'Patient', id };
}

/** The document that Kiln would store. */
function toDocument(resource: Resource, rows: object, version = 1): ResourceDocument {
  const { id, meta: _meta, resourceType, ...rest } = resource;
  const updated = new Date();
  const meta = { versionId: String(version), lastUpdated: updated.toISOString() };
  return {
    _id: `Patient/${String(id)}`,
    type: 'Patient',
    id: String(id),
    version,
    updated,
    n: 0,
    resource: { resourceType, id, meta, ...rest },
    ...rows,
  };
}

async function overHttp(store: Store, bare: Collections, child: ChildProcess): Promise<Row[]> {
  const rows = toIndexRows(extract(patient('x')));
  const validate = createValidator(tables);
  const kiln = await listen(createApp({ tables, store, extract, validate }), '127.0.0.1', 0);
  const floor = await listen(bareExpress(bare, rows), '127.0.0.1', 0);
  const floorName = 'Express, driver';
  try {
    const body = JSON.stringify(patient('bench'));
    for (const port of [kiln.port, floor.port]) {
      const init = { method: 'PUT', body, headers: { 'content-type': 'application/fhir+json' } };
      const answer = await fetch(`http://127.0.0.1:${port}/fhir/Patient/bench`, init);
      if (answer.status !== 201) throw new Error(`PUT ${answer.status} ${await answer.text()}`);
    }
    const get = (port: number) => load(child, port, 'GET', '/fhir/Patient/bench');
    const post = (port: number) => load(child, port, 'POST', '/fhir/Patient', JSON.stringify(patient('any')));
    const read = await compare(get(kiln.port), get(floor.port), PACE);
    const create = await compare(post(kiln.port), post(floor.port), PACE);
    return [
      {
        name: 'GET Patient/[id] on MongoDB',
        unit: 'requests',
        measured: read.measured,
        floor: { name: floorName, measured: read.floor },
        goal: { ratio: 0.6 },
      },
      {
        name: 'POST Patient on MongoDB',
        unit: 'requests',
        measured: create.measured,
        floor: { name: floorName, measured: create.floor },
        goal: { ratio: 0.5 },
      },
    ];
  } finally {
    await kiln.close(0);
    await floor.close(0);
  }
}

/** The least that a server can do: parse, store, find, print. */
function bareExpress({ resource }: Collections, rows: object): RequestListener {
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.use(express.json({ type: () => true, limit: '50mb' }));
  let count = 0;
  const create = async (id: string, body: object, res: express.Response): Promise<void> => {
    const document = toDocument({ ...(body as Resource), id }, rows);
    await resource.insertOne(document);
    res.status(201).json(document.resource);
  };
  const pad = (): string => String(count++).padStart(36, '0');
  app.post('/fhir/Patient', (req, res) => create(pad(), req.body as object, res));
  app.put('/fhir/Patient/:id', (req, res) => create(req.params.id, req.body as object, res));
  app.get('/fhir/Patient/:id', async (req, res) => {
    const found = await resource.findOne({ _id: `Patient/${req.params.id}` }, { projection: { resource: 1 } });
    res.json(found?.resource);
  });
  return app;
}

async function withoutHttp(store: Store, client: MongoClient, bare: Collections): Promise<Row[]> {
  const entries = extract(patient('x'));
  const rows = toIndexRows(entries);
  const toPut = (id: string, expected: number): Put => {
    const content = patient(id);
    const { resourceType, ...rest } = content;
    const { id: _id, ...others } = rest;
    const head = `${JSON.stringify({ resourceType, id }).slice(0, -1)},"meta":{`;
    const body = { head, tail: `},${JSON.stringify(others).slice(1)}` };
    return { type: 'Patient', id, expected, body, content, entries };
  };
  let created = 0;
  const many = async (work: () => Promise<number>): Promise<number> => {
    const counts = await Promise.all(Array.from({ length: CLIENTS }, work));
    return counts.reduce((sum, n) => sum + n);
  };
  const nextIds = (count: number): string[] => Array.from({ length: count }, () => `w${created++}`);

  const ids = nextIds(CLIENTS);
  const versions = new Map(ids.map((id) => [id, 1]));
  const bareVersions = new Map(ids.map((id) => [id, 1]));
  await store.write(ids.map((id) => toPut(id, 0)));
  await bare.resource.insertMany(ids.map((id) => toDocument(patient(id), rows)));

  /** Each client updates a resource of its own. */
  const updates = async (one: (id: string) => Promise<void>): Promise<number> => {
    await Promise.all(
      ids.map(async (id) => {
        for (let n = 0; n < 5; n++) await one(id);
      }),
    );
    return ids.length * 5;
  };
  const update = await compare(
    () =>
      updates(async (id) => {
        const version = versions.get(id)!;
        await store.write([toPut(id, version)]);
        versions.set(id, version + 1);
      }),
    () =>
      updates(async (id) => {
        const version = bareVersions.get(id)!;
        await client.withSession((session) =>
          session.withTransaction(async () => {
            const before = await bare.resource.findOne({ _id: `Patient/${id}` }, { session });
            const { token: _t, string: _s, date: _d, number: _n, reference: _r, uri: _u, ...kept } = before!;
            const past = { ...kept, _id: `Patient/${id}/${version}`, until: new Date() };
            await bare.history.insertOne(past, { session });
            const { _id, ...document } = toDocument(patient(id), rows, version + 1);
            await bare.resource.replaceOne({ _id, version: new Int32(version) as unknown as number }, document, {
              session,
            });
          }),
        );
        bareVersions.set(id, version + 1);
      }),
    PACE,
  );

  const hundred = await compare(
    () =>
      many(async () => {
        await store.write(nextIds(AT_ONCE).map((id) => toPut(id, 0)));
        return AT_ONCE;
      }),
    () =>
      many(async () => {
        const documents = nextIds(AT_ONCE).map((id) => toDocument(patient(id), rows));
        await client.withSession((session) =>
          session.withTransaction(async () => {
            await bare.resource.insertMany(documents, { session });
          }),
        );
        return AT_ONCE;
      }),
    PACE,
  );
  const floorName = 'driver';
  return [
    {
      name: 'update on MongoDB, 16 clients',
      unit: 'writes',
      measured: update.measured,
      floor: { name: floorName, measured: update.floor },
    },
    {
      name: 'store.write of 100 on MongoDB, 16 clients',
      unit: 'changes',
      measured: hundred.measured,
      floor: { name: floorName, measured: hundred.floor },
    },
  ];
}

/** Some hundred requests from another process. */
function load(child: ChildProcess, port: number, method: string, path: string, body?: string): () => Promise<number> {
  const head = `${method} ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nAccept: application/fhir+json\r\n`;
  const type = `Content-Type: application/fhir+json\r\nContent-Length: ${Buffer.byteLength(body ?? '')}\r\n`;
  const request = body === undefined ? `${head}\r\n` : `${head}${type}\r\n${body}`;
  return async () => {
    child.send({ port, requests: [request], count: 500 });
    const [count] = (await once(child, 'message')) as [unknown];
    if (typeof count !== 'number') throw new Error(String(count));
    return count;
  };
}
