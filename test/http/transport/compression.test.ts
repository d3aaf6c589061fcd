import { brotliDecompressSync, gunzipSync, gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';

import { chooseEncoding } from '../../../runtime/format/compress.js';
import { codeOf, FHIR_JSON, useToyServer } from '../server.js';

const gzip = { 'content-encoding': 'gzip', 'content-type': FHIR_JSON };
const patient = { resourceType: 'Patient', id: 'long', text: { div: 'text '.repeat(1000) } };

describe('compression (decisions.md, Interactions)', () => {
  const server = useToyServer({ limits: { body: 100_000 } });

  it('answers above 1 kB are compressed as the client likes', async () => {
    await server.send('PUT', '/Patient/long', patient);
    const plain = await server.send('GET', '/Patient/long');
    expect([plain.headers['content-encoding'], plain.headers.vary]).toEqual([undefined, 'Accept, Accept-Encoding']);
    const get = (encoding: string, path = '/Patient/long') =>
      server.send('GET', path, undefined, { 'accept-encoding': encoding });
    const zipped = await get('gzip, deflate');
    expect([zipped.headers['content-encoding'], zipped.headers.vary]).toEqual(['gzip', 'Accept, Accept-Encoding']);
    expect(gunzipSync(zipped.bytes).toString()).toBe(plain.text);
    const brotli = await get('gzip, br');
    expect([brotli.headers['content-encoding'], brotli.headers.etag]).toEqual(['br', 'W/"1"']);
    expect(brotliDecompressSync(brotli.bytes).toString()).toBe(plain.text);
    await server.send('PUT', '/Patient/short', { resourceType: 'Patient', id: 'short' });
    expect((await get('gzip', '/Patient/short')).headers['content-encoding']).toBeUndefined();
    const statement = [await get('br', '/metadata'), await get('br', '/metadata')];
    expect(statement[0]?.bytes.equals(statement[1]?.bytes ?? Buffer.of())).toBe(true);
  });

  it.each([
    ['gzip', 'gzip'],
    ['gzip;q=1.0, br;q=0.5', 'gzip'],
    ['br;q=0', undefined],
    ['*', 'br'],
    ['*, br;q=0', 'gzip'],
    ['identity, gzip;q=0.5', undefined],
    ['deflate', undefined],
    ['x-gzip', 'gzip'],
    ['', undefined],
  ])('Accept-Encoding %j: %s', (header, encoding) => expect(chooseEncoding(header)).toBe(encoding));

  it('content of a Binary goes as it is', async () => {
    await server.send('PUT', '/Binary/b', 'x'.repeat(5000), { 'content-type': 'text/plain' });
    const answer = await server.send('GET', '/Binary/b', undefined, { 'accept-encoding': 'gzip' });
    expect([answer.headers['content-encoding'], answer.text.length]).toEqual([undefined, 5000]);
  });

  it('gzip bodies are read, and counted as they are inflated', async () => {
    const body = (value: unknown) => gzipSync(typeof value === 'string' ? value : JSON.stringify(value));
    expect((await server.send('PUT', '/Patient/long', body(patient), gzip)).status).toBe(200);
    const bomb = await server.send('POST', '/Patient', gzipSync(Buffer.alloc(50_000_000, ' ')), gzip);
    expect([bomb.status, codeOf(bomb)]).toEqual([413, 'body-too-large']);
    for (const broken of [body(patient).subarray(0, 30), Buffer.from('{"resourceType":"Patient"}'), Buffer.of()]) {
      const answer = await server.send('PUT', '/Patient/long', broken, gzip);
      expect([answer.status, codeOf(answer)]).toEqual([400, broken.length === 0 ? 'body-missing' : 'body-encoding']);
    }
    for (const encoding of ['br', 'deflate', 'gzip, gzip', 'zstd']) {
      const answer = await server.send('PUT', '/Patient/long', patient, { 'content-encoding': encoding });
      expect([answer.status, answer.headers['accept-encoding']]).toEqual([415, 'gzip']);
    }
    expect(server.defects).toEqual([]);
  });
});
