import { connect } from 'node:net';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { beforeAll, describe, expect, it } from 'vitest';

import { tables } from '../../../generated/tables.js';
import type { Resource } from '../../../runtime/fhir/resource.js';
import { readJson } from '../../../runtime/format/read-json.js';
import { writeJson } from '../../../runtime/format/write-json.js';
import { readXml } from '../../../runtime/format/xml/read-xml.js';
import { writeXml, writeXmlBundle } from '../../../runtime/format/xml/write-xml.js';
import type { Codec } from '../../../runtime/http/response/codecs.js';
import { createToyStore } from '../../toy/store.js';
import { batch, entry, transaction, useBundleServer } from '../bundles/bundle-server.js';

const FHIR_XML = 'application/fhir+xml';
const COUNT = 900;

const xml: Codec = {
  read: (bytes) => readXml(bytes, tables),
  write: (resource, pretty) => writeXml(resource as Resource, tables, { pretty }),
  writeBundle: (bundle, entries, pretty) =>
    Promise.resolve(writeXmlBundle(bundle as Resource, entries, tables, { pretty })),
};

function patientOf(n: number): object {
  return {
    resourceType: 'Patient',
    id: `p${n}`,
    name: [{ family: `Žofie ${n}\n"next"`, given: ['x'.repeat(300)] }],
    extension: [{ url: 'urn:score', valueDecimal: n === 7 ? 1.5 : n }],
  };
}

describe('answers of hundreds of kilobytes (http.html#transaction-response)', () => {
  const store = createToyStore();
  const server = useBundleServer(store, { codecs: { xml } });
  const reads = batch(
    ...Array.from({ length: COUNT }, (_, n) => entry('GET', n === 5 ? 'Patient/none' : `Patient/p${n}`)),
  );
  const ask = (headers: Readonly<Record<string, string>> = {}, query = '') =>
    server.send('POST', `/${query}`, reads, headers);
  let plain: string;

  beforeAll(async () => {
    const puts = Array.from({ length: COUNT }, (_, n) => entry('PUT', `Patient/p${n}`, patientOf(n)));
    const answer = await server.send('POST', '/', transaction(...puts), { prefer: 'return=representation' });
    expect([answer.status, answer.json().entry.length]).toEqual([200, COUNT]);
    expect(answer.json().entry[COUNT - 1].resource).toMatchObject(patientOf(COUNT - 1));
    plain = (await ask()).text;
  });

  it('are whole, in the order of the request, with their length', async () => {
    const answer = await ask();
    expect(answer.bytes.length).toBeGreaterThan(256 * 1024);
    expect(answer.headers['content-length']).toBe(String(answer.bytes.length));
    expect(answer.headers['content-type']).toBe('application/fhir+json; charset=utf-8');
    const { entry: entries, ...rest } = answer.json();
    expect(rest).toMatchObject({ resourceType: 'Bundle', type: 'batch-response' });
    expect(entries.map((each: { response: { status: string } }) => each.response.status)).toEqual(
      Array.from({ length: COUNT }, (_, n) => (n === 5 ? '404 Not Found' : '200 OK')),
    );
    expect(entries[899].resource).toMatchObject(patientOf(899));
  });

  it.each([
    ['gzip', gunzipSync],
    ['br', brotliDecompressSync],
  ] as const)('%s: the same text', async (encoding, inflate) => {
    const answer = await ask({ 'accept-encoding': encoding });
    expect(answer.headers['content-encoding']).toBe(encoding);
    expect(answer.bytes.length).toBeLessThan(plain.length / 4);
    expect(inflate(answer.bytes).toString() === plain).toBe(true);
  });

  it('indented: as if it were written in one go', async () => {
    const answer = await ask({}, '?_pretty=true');
    expect(answer.text === writeJson(readJson(plain), 2)).toBe(true);
  });

  it.each([false, true])('XML, indented: %s: as if it were written in one go', async (pretty) => {
    const answer = await ask({ accept: FHIR_XML, 'accept-encoding': 'gzip' }, pretty ? '?_pretty=true' : '');
    expect(answer.headers['content-type']).toBe(`${FHIR_XML}; charset=utf-8`);
    expect(gunzipSync(answer.bytes).toString() === writeXml(readJson(plain) as Resource, tables, { pretty })).toBe(
      true,
    );
  });

  it('XML: what has no form in it is told in its place', async () => {
    const head = '{"resourceType":"Basic","id":"bell","meta":{';
    const body = { head, tail: '},"code":{"text":"\\u0007"}}' };
    const content = { resourceType: 'Basic', id: 'bell', code: { text: '\u0007' } };
    await store.write([{ type: 'Basic', id: 'bell', expected: 0, body, content, entries: [] }]);
    for (const count of [1, COUNT]) {
      const entries = Array.from({ length: count }, (_, n) => entry('GET', n === 0 ? 'Basic/bell' : `Patient/p${n}`));
      const answer = await server.send('POST', '/', batch(...entries), { accept: FHIR_XML });
      expect([answer.status, answer.text.match(/<OperationOutcome>/g)?.length]).toEqual([200, 1]);
      expect(answer.text).toContain('200 OK');
    }
  });

  it('a client that leaves in the middle disturbs nobody', async () => {
    const text = JSON.stringify(reads);
    await new Promise<void>((resolve, reject) => {
      const socket = connect({ host: '127.0.0.1', port: server.port });
      socket.once('error', reject);
      socket.once('data', () => socket.destroy());
      socket.once('close', () => resolve());
      const head = `POST /fhir/ HTTP/1.1\r\nHost: 127.0.0.1:${server.port}\r\nContent-Type: application/fhir+json`;
      socket.write(`${head}\r\nContent-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`);
    });
    expect((await ask()).text === plain).toBe(true);
    expect(server.defects).toEqual([]);
  });
});
