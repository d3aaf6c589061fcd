import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { tables } from '../../generated/tables.js';
import { createApp } from '../../runtime/http/app.js';
import { listen } from '../../runtime/http/listen.js';
import { createExtractor } from '../../runtime/indexing/extract.js';
import { openSqliteStore } from '../../runtime/store/sqlite/sqlite-store.js';
import { createValidator } from '../../runtime/validate/create-validator.js';
import { compare, type Work } from './measuring/measure.js';
import type { Bench } from './measuring/row.js';

/** Bytes of the document. */
const SIZE = 1_000_000;
/** Documents of one order. */
const COUNT = 5;

/**
 * Publications of a document of 1 MB in one request, against its two parts by requests of their own: a Binary, sent as a resource or as
 * bytes, and a DocumentReference that names it.
 */
export const bench: Bench = async () => {
  const folder = mkdtempSync(join(tmpdir(), 'kiln-bench-'));
  const store = openSqliteStore(`sqlite:${join(folder, 'kiln.db')}`);
  const options = { tables, store, extract: createExtractor(tables), validate: createValidator(tables) };
  const kiln = await listen(createApp(options), '127.0.0.1', 0);
  const bytes = randomBytes(SIZE);
  const data = bytes.toString('base64');
  const contentType = 'application/pdf';

  async function post(path: string, body: Buffer | string, type = 'application/fhir+json'): Promise<void> {
    const answer = await fetch(`${kiln.url}/fhir${path}`, { method: 'POST', body, headers: { 'content-type': type } });
    if (answer.status !== 201) throw new Error(`POST ${path}: ${answer.status} ${await answer.text()}`);
    await answer.arrayBuffer();
  }
  const reference = (attachment: object): string =>
    JSON.stringify({
      ...{ resourceType: 'DocumentReference', status: 'current', subject: { reference: 'Patient/p' } },
      type: { coding: [{ system: 'http://loinc.org', code: '60591-5' }] },
      content: [{ attachment: { contentType, ...attachment } }],
    });
  const often = (once: () => Promise<void>): Work => async () => {
    for (let n = 0; n < COUNT; n++) await once();
    return COUNT;
  }; // prettier-ignore

  const publication = reference({ data });
  const binary = JSON.stringify({ resourceType: 'Binary', contentType, data });
  const named = reference({ url: 'Binary/x', size: String(SIZE) });
  try {
    const patient = await fetch(`${kiln.url}/fhir/Patient/p`, {
      ...{ method: 'PUT', body: '{"resourceType":"Patient","id":"p"}' },
      headers: { 'content-type': 'application/fhir+json' },
    });
    if (patient.status !== 201) throw new Error(`PUT Patient: ${patient.status}`);
    const publish = often(() => post('/DocumentReference', publication));
    const asResource = often(() => post('/Binary', binary).then(() => post('/DocumentReference', named)));
    const asBytes = often(() => post('/Binary', bytes, contentType).then(() => post('/DocumentReference', named)));
    const rows = [];
    for (const [name, floor] of [['a Binary resource', asResource], ['a Binary as bytes', asBytes]] as const) {
      const { measured, floor: base } = await compare(publish, floor, { roundMs: 1000 });
      rows.push({
        name: `publish 1 MB, against ${name}`,
        unit: 'documents',
        measured,
        floor: { name: 'Binary and reference', measured: base },
        goal: { ratio: 0.5 },
      });
    } // prettier-ignore
    return rows;
  } finally {
    await kiln.close(0);
    await store.close();
    rmSync(folder, { recursive: true });
  }
};
