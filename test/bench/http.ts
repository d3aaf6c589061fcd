import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import type { RequestListener } from 'node:http';

import express from 'express';

import { tables } from '../../generated/tables.js';
import { createApp } from '../../runtime/http/app.js';
import { listen } from '../../runtime/http/listen.js';
import { openSqliteStore } from '../../runtime/store/sqlite/sqlite-store.js';
import { compare } from './measure.js';
import type { Bench } from './row.js';

const PATH = '/fhir/Patient/bench';

/** A Patient of a common size: 1 kB. */
const PATIENT = JSON.stringify({
  resourceType: 'Patient',
  id: 'bench',
  active: true,
  identifier: [{ system: 'urn:oid:1.2.36.146.595.217.0.1', value: '12345' }],
  name: [{ use: 'official', family: 'Chalmers', given: ['Peter', 'James'] }],
  telecom: Array.from({ length: 5 }, (_, i) => ({ system: 'phone', value: `(03) 5555 647${i}`, use: 'work', rank: 1 })),
  address: [{ use: 'home', line: ['534 Erewhon St'], city: 'PleasantVille', state: 'Vic', postalCode: '3999' }],
  contact: [{ name: { family: 'du Marché', given: ['Bénédicte'] }, gender: 'female', telecom: [{ value: '+33 1' }] }],
  text: { status: 'generated', div: '<div xmlns="http://www.w3.org/1999/xhtml">Peter James Chalmers</div>' },
});

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
  const child = fork(new URL('./http-load.js', import.meta.url), [], { execArgv: [] });
  try {
    const { measured, floor: base } = await compare(load(child, kiln.port), load(child, floor.port), { roundMs: 1000 });
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
    child.disconnect();
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

/** Some thousand requests from another process. */
function load(child: ChildProcess, port: number): () => Promise<number> {
  const request = `GET ${PATH} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nAccept: application/fhir+json\r\n\r\n`;
  return async () => {
    child.send({ port, requests: [request], count: 3000 });
    const [count] = (await once(child, 'message')) as [unknown];
    if (typeof count !== 'number') throw new Error(String(count));
    return count;
  };
}
