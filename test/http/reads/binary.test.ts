import { createHash, randomBytes } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { describe, expect, it, vi } from 'vitest';

import { tables } from '../../../generated/tables.js';
import { FhirError } from '../../../runtime/fhir/errors.js';
import { parseElements, selectElements } from '../../../runtime/format/summary-elements.js';
import { summarize } from '../../../runtime/format/summary.js';
import { sweepBlobs } from '../../../runtime/interactions/binary/sweep-blobs.js';
import { codeOf, FHIR_JSON, useToyServer } from '../server.js';

const png = { 'content-type': 'image/png' };
const asResource = { accept: FHIR_JSON };
const bytes = randomBytes(10_000);

describe('a part of a Binary (search.html#summary)', () => {
  const server = useToyServer({
    subset: (resource, view) =>
      view.summary === undefined
        ? selectElements(resource, parseElements((view.elements ?? []).join(), ['Binary'], tables), tables)
        : summarize(resource, view.summary, tables),
  });

  it('is the resource, for who asks for no format too, and never shows where the content is', async () => {
    await server.send('PUT', '/Binary/b', 'hello', { 'content-type': 'text/plain' });
    const data = Buffer.from('hello').toString('base64');
    for (const [query, wanted] of [
      ['_elements=contentType', undefined],
      ['_summary=true', undefined],
      ['_summary=text', undefined],
      ['_summary=data', data],
      ['_elements=data', data],
    ] as const) {
      for (const path of [`/Binary/b?${query}`, `/Binary/b/_history/1?${query}`]) {
        for (const headers of [{}, { accept: '*/*' }, asResource]) {
          const answer = await server.send('GET', path, undefined, headers);
          expect([path, answer.status, answer.headers['content-type']]).toEqual([
            path,
            200,
            `${FHIR_JSON}; charset=utf-8`,
          ]);
          expect(answer.json()).toMatchObject({ resourceType: 'Binary', meta: { tag: [{ code: 'SUBSETTED' }] } });
          expect([path, answer.json().data, answer.text.includes('urn:kiln')]).toEqual([path, wanted, false]);
        }
      }
      const page = (await server.send('GET', `/Binary/_history?${query}`)).json();
      expect(page.entry[0].resource.data).toBe(wanted);
      expect(JSON.stringify(page)).not.toContain('urn:kiln');
    }
    expect((await server.send('GET', '/Binary/b?_summary=false')).text).toBe('hello');
  });
});

describe('Binary (binary.html#rest)', () => {
  const server = useToyServer({ limits: { body: 1_000_000, resource: 20_000 } });
  const put = (id: string, body: Buffer | string, headers = {}) =>
    server.send('PUT', `/Binary/${id}`, body, { ...png, ...headers });

  it('takes any content and gives it back as it is, or as the resource', async () => {
    const created = await server.send('POST', '/Binary', bytes, { ...png, 'x-security-context': 'Patient/1' });
    expect([created.status, created.text]).toEqual([201, '']);
    const path = /\/Binary\/[^/]+/.exec(String(created.headers.location))?.[0] ?? '';
    const raw = await server.send('GET', path);
    expect([raw.status, raw.bytes.equals(bytes)]).toEqual([200, true]);
    expect(raw.headers).toMatchObject({
      'content-type': 'image/png',
      'content-length': '10000',
      'accept-ranges': 'bytes',
      'x-content-type-options': 'nosniff',
      'content-disposition': 'attachment',
      'content-security-policy': "sandbox; default-src 'none'",
      'x-security-context': 'Patient/1',
      etag: 'W/"1"',
    });
    const resource = (await server.send('GET', path, undefined, asResource)).json();
    expect(resource).toMatchObject({ contentType: 'image/png', securityContext: { reference: 'Patient/1' } });
    expect(resource).not.toHaveProperty('_data');
    expect(Buffer.from(resource.data, 'base64').equals(bytes)).toBe(true);
    expect((await server.send('GET', `${path}?_format=json&_pretty=true`)).json()).toEqual(resource);
    const head = await server.send('HEAD', path);
    expect([head.status, head.headers['content-length'], head.text]).toEqual([200, '10000', '']);
    expect((await server.send('GET', path, undefined, { 'if-none-match': 'W/"1"' })).status).toBe(304);
  });

  it.each(['*/*', 'image/png, */*;q=0.1', 'application/json', 'text/html', `${FHIR_JSON};q=0.1, image/png`])(
    'Accept %s means the content',
    async (accept) => {
      await put('accept', bytes);
      expect((await server.send('GET', '/Binary/accept', undefined, { accept })).headers['content-type']).toBe(
        'image/png',
      );
    },
  );

  it('takes the resource too, and keeps its content as bytes', async () => {
    const sent = {
      resourceType: 'Binary',
      id: 'r',
      contentType: 'text/plain',
      data: Buffer.from('häh').toString('base64'),
    };
    const answer = await server.send('PUT', '/Binary/r', sent);
    expect([answer.status, answer.json().data]).toEqual([201, sent.data]);
    expect((await server.send('GET', '/Binary/r')).text).toBe('häh');
    expect((await server.store.read('Binary', 'r'))?.json).not.toContain(sent.data);
    expect((await server.send('PUT', '/Binary/r', sent)).headers.etag).toBe('W/"1"');
    for (const data of ['a', '*', 'YQ=', 7, 'YQ==YQ==']) {
      expect(codeOf(await server.send('PUT', '/Binary/r', { ...sent, data }))).toBe('structure');
    }
  });

  it('versions keep their own content; equal content keeps the version and leaves no blob behind', async () => {
    await put('v', 'one');
    await put('v', 'two');
    const before = server.store.contents.size;
    const same = await put('v', 'two');
    expect([same.status, same.headers.etag, server.store.contents.size]).toEqual([200, 'W/"2"', before]);
    expect((await server.send('GET', '/Binary/v/_history/1')).text).toBe('one');
    expect((await server.send('GET', '/Binary/v')).text).toBe('two');
    await server.send('DELETE', '/Binary/v');
    expect((await server.send('GET', '/Binary/v')).status).toBe(410);
    expect((await server.send('GET', '/Binary/v/_history/2')).text).toBe('two');
  });

  it('a client cannot point at the content of another Binary', async () => {
    await put('mine', 'secret');
    const _data = JSON.parse((await server.store.read('Binary', 'mine'))?.json ?? '')._data;
    const thief = { resourceType: 'Binary', id: 'thief', contentType: 'text/plain', _data };
    for (const data of [{}, { data: 'YQ==' }]) {
      const answer = await server.send('PUT', '/Binary/thief', { ...thief, ...data });
      expect([answer.status, codeOf(answer), answer.json().issue[0].expression]).toEqual([
        400,
        'structure',
        ['Binary.data.extension[0]'],
      ]);
    }
    expect((await server.send('GET', '/Binary/thief')).status).toBe(404);
  });

  it('keeps what a client says of its data, with and without content', async () => {
    const absent = { url: 'http://hl7.org/fhir/StructureDefinition/data-absent-reason', valueCode: 'masked' };
    const sent = { resourceType: 'Binary', id: 'said', contentType: 'text/plain', _data: { extension: [absent] } };
    for (const each of [
      sent,
      { ...sent, data: 'YQ==', _data: { id: 'd', extension: [absent] } },
      { ...sent, data: 'YQ==' },
    ]) {
      await server.send('PUT', '/Binary/said', each);
      const { meta: _meta, ...read } = (await server.send('GET', '/Binary/said', undefined, asResource)).json();
      expect(read).toEqual(each);
      const [entry] = (await server.send('GET', '/Binary/said/_history')).json().entry;
      const { meta: _head, ...shown } = entry.resource;
      expect(shown).toEqual(each);
    }
    expect((await server.send('GET', '/Binary/said')).text).toBe('a');
    const again = await server.send('PUT', '/Binary/said', { ...sent, data: 'YQ==' });
    expect([again.status, again.headers.etag]).toEqual([200, 'W/"3"']);
  });

  it('a history has the content, as much as there is room for, and what it shows can be put back', async () => {
    const small = randomBytes(400_000);
    for (const id of ['h1', 'h2', 'h3']) await put(id, small);
    const history = (await server.send('GET', '/Binary/_history?_count=3')).json();
    expect(JSON.stringify(history)).not.toContain('urn:kiln');
    const shown = history.entry.map(({ resource }: { resource: object }) => resource);
    expect(shown.map((each: { data?: string }) => each.data?.length)).toEqual([533_336, 533_336, undefined]);
    expect(shown[2].meta.tag).toEqual([expect.objectContaining({ code: 'SUBSETTED' })]);
    const { meta: _meta, ...first } = shown[0];
    const back = await server.send('PUT', '/Binary/h3', first);
    expect([back.status, back.headers.etag]).toEqual([200, 'W/"1"']);
    expect((await server.send('GET', '/Binary/h3')).bytes.equals(small)).toBe(true);
  });

  it.each([
    ['bytes=0-9', 206, 0, 10],
    ['bytes=9990-', 206, 9990, 10_000],
    ['bytes=-10', 206, 9990, 10_000],
    ['bytes=1000-99999', 206, 1000, 10_000],
    ['bytes=5-4', 200, 0, 10_000],
    ['bytes=0-1,4-5', 200, 0, 10_000],
    ['lines=0-1', 200, 0, 10_000],
  ])('Range %s: %i', async (range, status, from, to) => {
    await put('range', bytes);
    const answer = await server.send('GET', '/Binary/range', undefined, { range });
    expect([answer.status, answer.bytes.equals(bytes.subarray(from, to))]).toEqual([status, true]);
    expect(answer.headers['content-range']).toBe(status === 206 ? `bytes ${from}-${to - 1}/10000` : undefined);
  });

  it('416 beyond the end; If-Range of another version gives all', async () => {
    await put('range', bytes);
    for (const range of ['bytes=10000-', 'bytes=-0']) {
      const answer = await server.send('GET', '/Binary/range', undefined, { range });
      expect([answer.status, codeOf(answer), answer.headers['content-range']]).toEqual([
        416,
        'range-not-satisfiable',
        'bytes */10000',
      ]);
    }
    const ranged = (etag: string) =>
      server.send('GET', '/Binary/range', undefined, { range: 'bytes=0-1', 'if-range': etag });
    expect([(await ranged('W/"1"')).status, (await ranged('W/"9"')).status]).toEqual([206, 200]);
  });

  it('counts inflated bytes, and leaves no blob when it refuses', async () => {
    const before = server.store.contents.size;
    const large = Buffer.alloc(1_000_001);
    expect((await put('big', large)).status).toBe(413);
    expect((await put('big', gzipSync(large), { 'content-encoding': 'gzip' })).status).toBe(413);
    expect((await put('big', 'x', { 'if-match': 'W/"1"' })).status).toBe(412);
    expect((await put('bad_id', 'x')).status).toBe(400);
    expect(server.store.contents.size).toBe(before);
    const fine = await put('zip', gzipSync('hello'), { 'content-encoding': 'gzip' });
    expect([fine.status, (await server.send('GET', '/Binary/zip')).text]).toEqual([201, 'hello']);
  });

  it('streams as JSON what is too large for a resource in memory, and says so of other forms', async () => {
    const large = randomBytes(500_001);
    await put('large', large);
    const answer = await server.send('GET', '/Binary/large', undefined, asResource);
    const sha256 = (data: Buffer) => createHash('sha256').update(data).digest('hex');
    expect(sha256(Buffer.from(answer.json().data, 'base64'))).toBe(sha256(large));
    const pretty = await server.send('GET', '/Binary/large?_pretty=true', undefined, asResource);
    expect([pretty.status, codeOf(pretty)]).toEqual([406, 'not-acceptable']);
    expect(server.defects).toEqual([]);
  });

  it('Prefer: return=representation gives the resource after an upload', async () => {
    const answer = await put('prefer', 'abc', { prefer: 'return=representation' });
    expect(answer.json()).toMatchObject({ id: 'prefer', data: Buffer.from('abc').toString('base64') });
  });

  it('content of a write that was done, though the store failed to say so, was deleted', async () => {
    const { store } = server;
    const write = store.write.bind(store);
    const failing = vi.spyOn(store, 'write').mockImplementation(async (changes) => {
      await write(changes);
      throw new FhirError('store-unavailable');
    });
    expect((await put('unsure', 'abc')).status).toBe(503);
    failing.mockRestore();
    const read = await server.send('GET', '/Binary/unsure');
    expect([read.status, read.text]).toEqual([200, 'abc']);
  });

  it('a sweep deletes what no version refers to, and nothing else', async () => {
    const { store } = server;
    await put('swept', 'kept');
    const before = store.contents.size;
    store.contents.set('binary/=swept/0190a', Buffer.of(1));
    store.contents.set('binary/=never/0190b', Buffer.of(1));
    expect(await sweepBlobs(store, 0, 1000)).toBe(0);
    expect([await sweepBlobs(store), store.contents.size]).toEqual([2, before]);
    expect((await server.send('GET', '/Binary/swept')).text).toBe('kept');
  });
});
