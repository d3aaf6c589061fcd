import { describe, expect, it } from 'vitest';

import { codeOf, useToyServer } from '../server.js';

describe('update: PUT [base]/[type]/[id] (http.html#update)', () => {
  const server = useToyServer();
  let count = 0;
  /** A resource of its own for each test. */
  const fresh = () => `u${++count}`;
  const put = (id: string, more: object = {}, headers: Record<string, string> = {}) =>
    server.send('PUT', `/Patient/${id}`, { resourceType: 'Patient', id, ...more }, headers);

  it('creates what is not there, with the id of the client (http.html#upsert)', async () => {
    for (const id of [fresh(), '4711', 'A-b.C', 'x'.repeat(64)]) {
      const answer = await put(id, { active: true });
      expect(answer.status).toBe(201);
      expect(answer.headers.location).toBe(`${server.url}/fhir/Patient/${id}/_history/1`);
      expect(answer.json()).toMatchObject({ id, active: true, meta: { versionId: '1' } });
    }
  });

  it('answers 200 and the next version, later than the one before', async () => {
    const id = fresh();
    const one = (await put(id)).json();
    const answer = await put(id, { active: true });
    expect([answer.status, answer.headers.etag, answer.headers.location]).toEqual([
      ...[200, 'W/"2"'],
      `${server.url}/fhir/Patient/${id}/_history/2`,
    ]);
    expect(answer.json().meta.lastUpdated > one.meta.lastUpdated).toBe(true);
  });

  it('keeps the version where the content is equal, whatever the order of its properties', async () => {
    const id = fresh();
    const one = await put(id, { active: true, name: [{ family: 'A', given: ['B', 'C'] }] });
    const body = `{ "name": [{ "given": ["B","C"], "family": "A" }], "id": "${id}",
      "active": true, "resourceType": "Patient", "meta": { "versionId": "9" } }`;
    const same = await server.send('PUT', `/Patient/${id}`, body);
    expect([same.status, same.headers.etag]).toEqual([200, 'W/"1"']);
    expect(same.json()).toEqual(one.json());
    const other = await put(id, { active: true, name: [{ family: 'A', given: ['C', 'B'] }] });
    expect(other.headers.etag).toBe('W/"2"');
  });

  it('holds the text of numbers significant', async () => {
    const id = fresh();
    const put = (n: string) => server.send('PUT', `/Basic/${id}`, `{"resourceType":"Basic","id":"${id}","x":${n}}`);
    expect((await put('1.0')).headers.etag).toBe('W/"1"');
    expect((await put('1.0')).headers.etag).toBe('W/"1"');
    expect((await put('1.00')).headers.etag).toBe('W/"2"');
    expect((await put('1')).headers.etag).toBe('W/"3"');
  });

  it('keeps tags and security labels unless sent, profile and source as sent (resource.html#tag-updates)', async () => {
    const id = fresh();
    await put(id, {
      meta: {
        profile: ['http://p'],
        source: 'urn:s',
        tag: [
          { system: 'urn:t', code: 'a', display: 'old' },
          { system: 'urn:t', code: 'b' },
        ],
        security: [{ system: 'urn:c', code: 'N' }],
      },
    });
    const tag = [{ system: 'urn:t', code: 'a', display: 'new' }, { code: 'a' }];
    const { meta } = (await put(id, { meta: { tag } })).json();
    expect(meta).toEqual({
      versionId: '2',
      lastUpdated: expect.any(String),
      tag: [...tag, { system: 'urn:t', code: 'b' }],
      security: [{ system: 'urn:c', code: 'N' }],
    });
    // Tags alone that stay anyway change nothing.
    expect((await put(id)).headers.etag).toBe('W/"2"');
  });

  it('revives a deleted id with 201, its versions going on', async () => {
    const id = fresh();
    await put(id, { meta: { tag: [{ code: 'old' }] } });
    await server.send('DELETE', `/Patient/${id}`);
    const answer = await put(id);
    expect([answer.status, answer.headers.etag]).toEqual([201, 'W/"3"']);
    expect(answer.headers.location).toContain(`/Patient/${id}/_history/3`);
    expect(answer.json().meta.tag).toBeUndefined();
  });

  it.each([
    ['the current version', 'W/"1"', 200],
    ['the current version among others', 'W/"7", W/"1"', 200],
    ['anything that exists', '*', 200],
    ['another version', 'W/"2"', 412],
    ['no version id', 'W/"abc"', 412],
    ['the current version, without quotes', '1', 200],
    ['nonsense', 'one', 400],
  ])('If-Match: %s', async (_name, header, status) => {
    const id = fresh();
    await put(id);
    expect((await put(id, { active: true }, { 'if-match': header })).status).toBe(status);
    const current = await server.send('GET', `/Patient/${id}`);
    expect(current.headers.etag).toBe(status === 200 ? 'W/"2"' : 'W/"1"');
  });

  it.each([
    ['W/"7", W/"8"', 'If-Match: the current version is W/"1", not W/"7", W/"8"'],
    [`W/"${'9'.repeat(80)}"`, `If-Match: the current version is W/"1", not W/"${'9'.repeat(61)}…`],
    ['one', 'If-Match has to be *, or like W/"3" or "3", or several of these with commas between them'],
  ])('a refused If-Match is told with what was sent: %s', async (header, text) => {
    const id = fresh();
    await put(id);
    const answer = await put(id, { active: true }, { 'if-match': header });
    expect(answer.json().issue[0].details.text).toBe(text);
  });

  it('If-Match is 412 where nothing is, or nothing any more', async () => {
    const id = fresh();
    expect((await put(id, {}, { 'if-match': 'W/"1"' })).status).toBe(412);
    expect((await server.send('GET', `/Patient/${id}`)).status).toBe(404);
    await put(id);
    await server.send('DELETE', `/Patient/${id}`);
    expect(codeOf(await put(id, {}, { 'if-match': 'W/"2"' }))).toBe('precondition-failed');
    expect((await put(id, {}, { 'if-match': '*' })).status).toBe(412);
  });

  it('If-None-Match: * creates only', async () => {
    const id = fresh();
    const only = { 'if-none-match': '*' };
    expect((await put(id, {}, only)).status).toBe(201);
    expect((await put(id, { active: true }, only)).status).toBe(412);
    await server.send('DELETE', `/Patient/${id}`);
    expect((await put(id, {}, only)).status).toBe(201);
  });

  it.each([
    ['no id', { resourceType: 'Patient' }, 'id-missing'],
    ['another id', { resourceType: 'Patient', id: 'other' }, 'id-mismatch'],
    ['an id that is a number', { resourceType: 'Patient', id: 1 }, 'id-invalid'],
    ['another type', { resourceType: 'Basic', id: 'fixed' }, 'type-mismatch'],
  ])('refuses %s in the body with 400', async (_name, body, code) => {
    const answer = await server.send('PUT', '/Patient/fixed', body);
    expect([answer.status, codeOf(answer)]).toEqual([400, code]);
  });

  it.each(['x'.repeat(65), 'a_b', 'a%2Fb'])('refuses the id %s in the URL with 400', async (id) => {
    const body = { resourceType: 'Patient', id: decodeURIComponent(id) };
    const answer = await server.send('PUT', `/Patient/${id}`, body);
    expect([answer.status, codeOf(answer)]).toEqual([400, 'id-invalid']);
  });

  it.each(['.', '..'])('the id %s made a Location that leads elsewhere', async (id) => {
    const answer = await server.send('PUT', `/Patient/${id}`, { resourceType: 'Patient', id });
    expect([answer.status, codeOf(answer)]).toEqual([400, 'id-invalid']);
    expect(answer.json().issue[0].details.text).toContain('another place');
    expect((await server.send('PUT', '/Patient/...', { resourceType: 'Patient', id: '...' })).status).toBeLessThan(300);
  });

  it('an empty element of If-Match was taken for a wrong one (RFC 9110, 5.6.1)', async () => {
    const id = fresh();
    await put(id);
    expect((await put(id, { active: true }, { 'if-match': 'W/"1",' })).status).toBe(200);
    expect((await put(id, { active: false }, { 'if-match': ', ,W/"9" , W/"2"' })).status).toBe(200);
    for (const none of ['', ',', ' , ']) {
      expect(codeOf(await put(id, {}, { 'if-match': none }))).toBe('header-invalid');
    }
  });

  it('an If-None-Match that cannot be read was 201 where nothing was, and 400 where something was', async () => {
    const id = fresh();
    const garbage = { 'if-none-match': 'garbage' };
    expect(codeOf(await put(id, {}, garbage))).toBe('header-invalid');
    expect(codeOf(await put(id, {}, { ...garbage, 'if-match': 'W/"1"' }))).toBe('header-invalid');
    await put(id);
    expect(codeOf(await put(id, { active: true }, garbage))).toBe('header-invalid');
    expect(codeOf(await put(id, { active: true }, { ...garbage, 'if-match': 'W/"9"' }))).toBe('header-invalid');
  });

  it('loses no version and doubles none when many write at once', async () => {
    const id = fresh();
    const answers = await Promise.all(Array.from({ length: 20 }, (_, i) => put(id, { name: [{ family: `f${i}` }] })));
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(19);
    const versions = answers.map(({ headers }) => Number(/\d+/.exec(String(headers.etag))?.[0]));
    expect(versions.sort((a, b) => a - b)).toEqual(Array.from({ length: 20 }, (_, i) => i + 1));
  });
});
