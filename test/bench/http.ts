import type { RequestListener } from 'node:http';

import express from 'express';

import { tables } from '../../generated/tables.js';
import { createApp } from '../../runtime/http/app.js';
import { listen } from '../../runtime/http/listen.js';
import { openSqliteStore } from '../../runtime/store/sqlite/sqlite-store.js';
import { getRequest, PATIENT, PATH, sendOften, startClient } from './servers/http-client.js';
import { compare } from './measuring/measure.js';
import type { Bench } from './measuring/row.js';

/** Reads over HTTP, against Express that answers the same bytes from memory. */
export const bench: Bench = async () => {
  const store = openSqliteStore('sqlite::memory:');
  const kiln = await listen(createApp({ tables, store, extract: () => [] }), '127.0.0.1', 0);
  const put = await fetch(`${kiln.url}${PATH}`, {
    method: 'PUT',
    body: PATIENT,
    headers: { 'content-type': 'application/fhir+json' },
  });
  const read = await fetch(kiln.url + PATH);
  if (put.status !== 201 || read.status !== 200) throw new Error(`PUT ${put.status}, GET ${read.status}`);
  const floor = await listen(bareExpress(Buffer.from(await read.arrayBuffer())), '127.0.0.1', 0);
  const client = startClient();
  try {
    const { measured, floor: base } = await compare(
      sendOften(client, kiln.port, getRequest()),
      sendOften(client, floor.port, getRequest()),
      { roundMs: 1000 },
    );
    return [
      {
        name: 'GET Patient/[id]',
        unit: 'requests',
        measured,
        floor: { name: 'Express', measured: base },
        goal: { ratio: 1 },
      },
    ];
  } finally {
    client.disconnect();
    await kiln.close(0);
    await floor.close(0);
    await store.close();
  }
};

function bareExpress(bytes: Buffer): RequestListener {
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.get('/fhir/Patient/:id', (_req, res) => {
    res.setHeader('Content-Type', 'application/fhir+json; charset=utf-8');
    res.setHeader('ETag', 'W/"1"');
    res.send(bytes);
  });
  return app;
}
