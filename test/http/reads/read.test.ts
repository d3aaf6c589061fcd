import { beforeAll, describe, expect, it } from 'vitest';

import { codeOf, useToyServer } from '../server.js';

describe('read: GET [base]/[type]/[id] (http.html#read)', () => {
  const server = useToyServer();
  const first = { resourceType: 'Patient', id: 'p', active: true };

  beforeAll(async () => {
    await server.send('PUT', '/Patient/p', first);
    await server.send('PUT', '/Patient/p', { ...first, active: false });
    await server.send('PUT', '/Patient/gone', { resourceType: 'Patient', id: 'gone' });
    await server.send('DELETE', '/Patient/gone');
  });

  it('answers the current version', async () => {
    const answer = await server.send('GET', '/Patient/p');
    expect(answer.status).toBe(200);
    expect(answer.json()).toMatchObject({ id: 'p', active: false, meta: { versionId: '2' } });
    expect(answer.headers.etag).toBe('W/"2"');
    expect(answer.headers['last-modified']).toBe(new Date(answer.json().meta.lastUpdated).toUTCString());
    expect(answer.headers['x-powered-by']).toBeUndefined();
  });

  it.each([
    [{ 'if-match': 'W/"2"' }, 200],
    [{ 'if-match': 'W/"1", "2"' }, 200],
    [{ 'if-match': '*' }, 200],
    [{ 'if-match': 'W/"99"' }, 412],
    [{ 'if-match': 'W/"99"', 'if-none-match': 'W/"2"' }, 412],
    [{ 'if-match': 'W/"2"', 'if-none-match': 'W/"2"' }, 304],
    [{ 'if-unmodified-since': 'Sat, 01 Jan 2000 00:00:00 GMT' }, 412],
    [{ 'if-unmodified-since': 'Thu, 01 Jan 2099 00:00:00 GMT' }, 200],
  ])('preconditions hold for reads as well: %j: %i (RFC 9110, 13.2.2)', async (headers, status) => {
    expect((await server.send('GET', '/Patient/p', undefined, headers)).status).toBe(status);
    expect((await server.send('HEAD', '/Patient/p', undefined, headers)).status).toBe(status);
    expect((await server.send('GET', '/Patient/p/_history/2', undefined, headers)).status).toBe(status);
  });

  it('parameters without a value count as absent', async () => {
    for (const query of ['_format=', '_summary=', '_elements=', '_format=&_format=json', 'nonsense=']) {
      const answer = await server.send('GET', `/Patient/p?${query}`);
      expect([answer.status, answer.headers['content-type']], query).toEqual([
        200,
        'application/fhir+json; charset=utf-8',
      ]);
    }
    expect((await server.send('GET', '/Patient/p?nonsense=1')).status).toBe(400);
  });

  it('HEAD has the headers of GET and no body', async () => {
    const get = await server.send('GET', '/Patient/p');
    const head = await server.send('HEAD', '/Patient/p');
    expect([head.status, head.text]).toEqual([200, '']);
    for (const name of ['etag', 'last-modified', 'content-type', 'content-length'] as const) {
      expect(head.headers[name]).toBe(get.headers[name]);
    }
    expect((await server.send('HEAD', '/Patient/none')).status).toBe(404);
  });

  it.each([
    ['/Patient/none', 404, 'not-found'],
    [`/Patient/${'x'.repeat(65)}`, 404, 'not-found'],
    ['/Patient/a%20b', 404, 'not-found'],
    ['/Patient/gone', 410, 'deleted'],
    ['/Nothing/p', 404, 'unknown-type'],
    ['/patient/p', 404, 'unknown-type'],
    ['/Patient/p/what', 404, 'unknown-path'],
    ['/Patient/%zz', 400, 'url-invalid'],
  ])('GET %s: %i %s', async (path, status, code) => {
    const answer = await server.send('GET', path);
    expect([answer.status, codeOf(answer)]).toEqual([status, code]);
  });

  it.each([
    [{ 'if-none-match': 'W/"2"' }, 304],
    [{ 'if-none-match': '"2"' }, 304],
    [{ 'if-none-match': 'W/"1", W/"2"' }, 304],
    [{ 'if-none-match': '*' }, 304],
    [{ 'if-none-match': 'W/"1"' }, 200],
    [{ 'if-modified-since': new Date(Date.now() + 60_000).toUTCString() }, 304],
    [{ 'if-modified-since': 'Mon, 01 Jan 2001 00:00:00 GMT' }, 200],
    [{ 'if-modified-since': 'yesterday' }, 200],
    // If-None-Match counts before If-Modified-Since (RFC 9110, 13.2.2).
    [{ 'if-none-match': 'W/"1"', 'if-modified-since': new Date(Date.now() + 60_000).toUTCString() }, 200],
    [{ 'if-none-match': 'two' }, 400],
  ])('conditional read %j: %i', async (headers, status) => {
    const answer = await server.send('GET', '/Patient/p', undefined, headers as Record<string, string>);
    expect(answer.status).toBe(status);
    if (status === 304) expect([answer.text, answer.headers.etag]).toEqual(['', 'W/"2"']);
  });

  it('304 for the very second in Last-Modified, although the version has milliseconds', async () => {
    const since = String((await server.send('GET', '/Patient/p')).headers['last-modified']);
    expect((await server.send('GET', '/Patient/p', undefined, { 'if-modified-since': since })).status).toBe(304);
  });

  it('_pretty indents', async () => {
    expect((await server.send('GET', '/Patient/p?_pretty=true')).text).toContain('\n  "id": "p"');
    expect((await server.send('GET', '/Patient/p?_pretty=false')).text).not.toContain('\n');
  });

  it('refuses unknown parameters, unless handling is lenient', async () => {
    const answer = await server.send('GET', '/Patient/p?colour=blue');
    expect([answer.status, codeOf(answer)]).toEqual([400, 'parameter-unknown']);
    expect(answer.json().issue[0].details.text).toMatch(/"colour".*_format/);
    expect((await server.send('GET', '/Patient/p?_summary=true')).status).toBe(400);
    const lenient = { prefer: 'handling=lenient' };
    expect((await server.send('GET', '/Patient/p?colour=blue', undefined, lenient)).status).toBe(200);
  });
});

describe('vread: GET [base]/[type]/[id]/_history/[vid] (http.html#vread)', () => {
  const server = useToyServer();

  beforeAll(async () => {
    await server.send('PUT', '/Basic/b', { resourceType: 'Basic', id: 'b', language: 'de' });
    await server.send('PUT', '/Basic/b', { resourceType: 'Basic', id: 'b', language: 'fr' });
    await server.send('DELETE', '/Basic/b');
  });

  it('answers each version, also of what is deleted', async () => {
    const one = await server.send('GET', '/Basic/b/_history/1');
    expect(one.json()).toMatchObject({ language: 'de', meta: { versionId: '1' } });
    expect([one.status, one.headers.etag]).toEqual([200, 'W/"1"']);
    expect((await server.send('GET', '/Basic/b/_history/2')).json().language).toBe('fr');
    expect((await server.send('HEAD', '/Basic/b/_history/2')).status).toBe(200);
    const known = { 'if-none-match': 'W/"1"' };
    expect((await server.send('GET', '/Basic/b/_history/1', undefined, known)).status).toBe(304);
  });

  it.each([
    ['/Basic/b/_history/3', 410, 'deleted'],
    ['/Basic/b/_history/4', 404, 'not-found'],
    ['/Basic/b/_history/0', 404, 'not-found'],
    ['/Basic/b/_history/01', 404, 'not-found'],
    ['/Basic/b/_history/one', 404, 'not-found'],
    ['/Basic/b/_history/99999999999999999999', 404, 'not-found'],
    ['/Basic/none/_history/1', 404, 'not-found'],
  ])('GET %s: %i %s', async (path, status, code) => {
    const answer = await server.send('GET', path);
    expect([answer.status, codeOf(answer)]).toEqual([status, code]);
  });
});
