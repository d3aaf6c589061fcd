import { fork, type ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import type { RequestListener } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import express from 'express';

import { tables } from '../../generated/tables.js';
import type { Resource } from '../../runtime/fhir/resource.js';
import { createApp } from '../../runtime/http/app.js';
import { listen } from '../../runtime/http/listen.js';
import { createExtractor } from '../../runtime/indexing/extract.js';
import { stampBody } from '../../runtime/store/body.js';
import { openSqliteStore } from '../../runtime/store/sqlite/sqlite-store.js';
import type { Put } from '../../runtime/store/store.js';
import { createValidator } from '../../runtime/validate/create-validator.js';
import { openBare } from './bare/bare-inserts.js';
import { compare } from './measuring/measure.js';
import { patients } from './data/patients.js';
import type { Bench } from './measuring/row.js';

/** Requests of one order, over 16 connections. */
const COUNT = 500;

/**
 * Creates over HTTP, validated and with their index entries, one request after the other on each connection; against
 * Express that parses the JSON and does the same inserts, index entries known beforehand, in a durable commit each.
 */
export const bench: Bench = async () => {
  const folder = mkdtempSync(join(tmpdir(), 'kiln-bench-'));
  const extract = createExtractor(tables);
  const patient = { ...patients(2)[1], id: undefined, meta: undefined };
  const text = JSON.stringify(patient);
  const content = JSON.parse(text) as Resource;

  const store = openSqliteStore(`sqlite:${join(folder, 'kiln.db')}`);
  const validate = createValidator(tables);
  const kiln = await listen(createApp({ tables, store, extract, validate }), '127.0.0.1', 0);
  const bare = openBare(join(folder, 'bare.db'));
  const floor = await listen(bareExpress(bare.insert, extract(content)), '127.0.0.1', 0);
  const child = fork(new URL('./servers/http-load.js', import.meta.url), [], { execArgv: [] });
  try {
    const pace = { roundMs: 1000 };
    const { measured, floor: base } = await compare(load(child, kiln.port, text), load(child, floor.port, text), pace);
    return [
      {
        name: 'POST Patient',
        unit: 'requests',
        measured,
        floor: { name: 'Express and bare inserts', measured: base },
        goal: { ratio: 0.5 },
      },
    ];
  } finally {
    child.disconnect();
    await kiln.close(0);
    await floor.close(0);
    await store.close();
    bare.db.close();
    rmSync(folder, { recursive: true });
  }
};

function bareExpress(insert: (put: Put) => void, entries: Put['entries']): RequestListener {
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.post('/fhir/Patient', express.json({ type: 'application/fhir+json' }), (req, res) => {
    const id = randomUUID();
    const { resourceType, ...rest } = req.body as Resource;
    const body = { head: `{"resourceType":"${resourceType}","id":"${id}","meta":{`, tail: '' };
    const tail = `},${JSON.stringify(rest).slice(1)}`;
    const put = {
      type: resourceType,
      id,
      expected: 0,
      body: { ...body, tail },
      content: req.body as Resource,
      entries,
    };
    insert(put);
    res.status(201);
    res.setHeader('Content-Type', 'application/fhir+json; charset=utf-8');
    res.setHeader('Location', `/fhir/Patient/${id}/_history/1`);
    res.send(stampBody(put.body, 1, Date.now()));
  });
  return app;
}

/** Some hundred requests from another process. */
function load(child: ChildProcess, port: number, body: string): () => Promise<number> {
  const request =
    `POST /fhir/Patient HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nAccept: application/fhir+json\r\n` +
    `Content-Type: application/fhir+json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
  return async () => {
    child.send({ port, requests: [request], count: COUNT });
    const [count] = (await once(child, 'message')) as [unknown];
    if (typeof count !== 'number') throw new Error(String(count));
    return count;
  };
}
