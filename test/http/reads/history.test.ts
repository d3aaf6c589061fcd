import { beforeAll, describe, expect, it } from 'vitest';

import { codeOf, useToyServer, type Answer } from '../server.js';

const put = (id: string, text: string) =>
  `{"resourceType":"Basic","id":"${id}","extension":[{"valueDecimal":${text}}]}`;

describe('history (http.html#history)', () => {
  const server = useToyServer();
  let afterFirst = '';

  beforeAll(async () => {
    await server.send('PUT', '/Basic/a', put('a', '1.0'));
    afterFirst = (await server.send('GET', '/_history')).json().meta.lastUpdated;
    await new Promise((resolve) => setTimeout(resolve, 5));
    await server.send('PUT', '/Basic/a', put('a', '1.10'));
    await server.send('DELETE', '/Basic/a');
    await server.send('PUT', '/Basic/a', put('a', '2.00'));
    await server.send('POST', '/Patient', { resourceType: 'Patient' });
  });

  const summary = (answer: Answer) =>
    answer.json().entry.map((entry: { request: { method: string; url: string }; response: { etag: string } }) => {
      return `${entry.request.method} ${entry.request.url} ${entry.response.etag}`;
    });

  it('of an instance: newest first, deletions included, the text of numbers kept', async () => {
    const answer = await server.send('GET', '/Basic/a/_history');
    expect(answer.status).toBe(200);
    expect(answer.text).toContain('"valueDecimal":1.10');
    const bundle = answer.json();
    expect(bundle).toMatchObject({ resourceType: 'Bundle', type: 'history', total: 4 });
    expect(summary(answer)).toEqual([
      'PUT Basic/a W/"4"',
      'DELETE Basic/a W/"3"',
      'PUT Basic/a W/"2"',
      'PUT Basic/a W/"1"',
    ]);
    expect(bundle.link).toEqual([{ relation: 'self', url: `${server.url}/fhir/Basic/a/_history` }]);
    const [newest, deleted, , oldest] = bundle.entry;
    expect(newest.fullUrl).toBe(`${server.url}/fhir/Basic/a`);
    expect(newest.resource.meta.versionId).toBe('4');
    expect(newest.response.lastModified).toBe(newest.resource.meta.lastUpdated);
    expect([deleted.resource, deleted.response.status]).toEqual([undefined, '200 OK']);
    expect(oldest.response.status).toBe('201 Created');
    expect(Date.parse(bundle.meta.lastUpdated)).toBeGreaterThanOrEqual(Date.parse(newest.response.lastModified));
  });

  it('of a type and of the system; what got its id here came by POST', async () => {
    expect(summary(await server.send('GET', '/Patient/_history'))).toEqual(['POST Patient W/"1"']);
    expect((await server.send('GET', '/_history')).json().total).toBe(5);
    expect((await server.send('GET', '/Observation/_history')).json()).not.toHaveProperty('entry');
    const head = await server.send('HEAD', '/_history');
    expect([head.status, head.text]).toEqual([200, '']);
  });

  it('walks pages of one snapshot', async () => {
    const seen: string[] = [];
    let url: string | undefined = '/_history?_count=2&_format=json';
    let pages = 0;
    while (url !== undefined && pages < 10) {
      const answer: Answer = await server.send('GET', url);
      expect(answer.json().total).toBe(5);
      seen.push(...summary(answer));
      const next = answer.json().link.find(({ relation }: { relation: string }) => relation === 'next')?.url;
      expect(next?.length ?? 0).toBeLessThan(4096);
      if (next !== undefined) expect(next).toContain('_format=json');
      url = next?.slice(`${server.url}/fhir`.length);
      if (pages++ === 0) await server.send('PUT', '/Observation/x', { resourceType: 'Observation', id: 'x' });
    }
    expect([pages, seen.length, new Set(seen).size]).toEqual([3, 5, 5]);
  });

  it('_since and _at take every precision, and exclude each other', async () => {
    const total = async (query: string) => (await server.send('GET', `/Basic/_history?${query}`)).json().total;
    const year = new Date().getUTCFullYear();
    expect(await total(`_since=${year}`)).toBe(4);
    expect(await total(`_since=${year + 1}-01`)).toBe(0);
    expect(await total(`_since=${year - 1}-12-31T23:59:59+14:00`)).toBe(4);
    expect(await total(`_at=${year}`)).toBe(4);
    expect(await total(`_at=1999-12-31`)).toBe(0);
    const at = await server.send('GET', `/Basic/a/_history?_at=${afterFirst}`);
    expect(summary(at)).toEqual(['PUT Basic/a W/"1"']);
    for (const query of [
      '_since=2024&_at=2024',
      '_since=soon',
      '_at=2024-13',
      '_since=2024&_since=2025',
      '_count=-1',
    ]) {
      const answer = await server.send('GET', `/Basic/_history?${query}`);
      expect([query, answer.status, codeOf(answer)]).toEqual([query, 400, 'parameter-invalid']);
    }
  });

  it('_count=0 and _summary=count give the total only', async () => {
    for (const query of ['_count=0', '_summary=count']) {
      const bundle = (await server.send('GET', `/Basic/_history?${query}`)).json();
      expect(bundle).toMatchObject({ total: 4, link: [{ relation: 'self' }] });
      expect(bundle).not.toHaveProperty('entry');
      expect(bundle.link).toHaveLength(1);
    }
  });

  it('404 for what never was, an empty one for what has older versions', async () => {
    const none = await server.send('GET', '/Basic/none/_history');
    expect([none.status, codeOf(none)]).toEqual([404, 'not-found']);
    expect((await server.send('GET', '/Basic/a/_history?_since=2999')).status).toBe(200);
    expect((await server.send('GET', '/Basic/a_b/_history')).status).toBe(404);
  });

  it('refuses links that are forged, cut, or of another history', async () => {
    const next = (await server.send('GET', '/Basic/_history?_count=1')).json().link[1].url as string;
    const token = new URL(next).searchParams.get('_page') ?? '';
    const flipped = token.slice(0, 30) + (token[30] === 'A' ? 'B' : 'A') + token.slice(31);
    expect((await server.send('GET', `/Basic/_history?_page=${token}`)).status).toBe(200);
    for (const path of [
      `/Basic/_history?_page=${flipped}`,
      `/Basic/_history?_page=${token.slice(0, -4)}`,
      '/Basic/_history?_page=x',
      '/Basic/_history?_page=',
      `/Patient/_history?_page=${token}`,
      `/_history?_page=${token}`,
      `/Basic/a/_history?_page=${token}`,
    ]) {
      const answer = await server.send('GET', path);
      expect([path, answer.status, codeOf(answer)]).toEqual([path, 400, 'page-invalid']);
    }
    expect(codeOf(await server.send('GET', `/Basic/_history?_page=${token}&_count=5`))).toBe('parameter-invalid');
  });

  it('its own links are good, however long the query is', async () => {
    const zeros = `_since=2024-01-01T00:00:00.${'0'.repeat(5000)}Z`;
    const forms = `${'_format=json&'.repeat(300)}${'_pretty=false&'.repeat(100)}`;
    for (const query of [zeros, forms]) {
      const first = (await server.send('GET', `/Basic/_history?${query}&_count=1`)).json();
      const next = first.link[1].url as string;
      expect(next.length).toBeLessThan(4096);
      const second = await server.send('GET', next.slice(`${server.url}/fhir`.length));
      expect([second.status, summary(second)]).toEqual([200, ['DELETE Basic/a W/"3"']]);
      expect(second.json().total).toBe(first.total);
    }
    expect(codeOf(await server.send('GET', `/_history?_pretty=${'x'.repeat(3000)}`))).toBe('parameter-invalid');
  });

  it('a page has at most as many versions as the limit', async () => {
    expect((await server.send('GET', '/_history?_count=999999')).status).toBe(200);
  });
});

describe('views (search.html#summary)', () => {
  const server = useToyServer({
    subset: ({ resourceType, id }, { summary, elements }) => ({
      resourceType,
      id: id ?? null,
      view: summary ?? (elements ?? []).join(),
    }),
  });

  it('of many elements have links that are good too', async () => {
    await server.send('PUT', '/Basic/many', put('many', '1.0'));
    await server.send('PUT', '/Basic/many', put('many', '2.0'));
    const names = Array.from({ length: 700 }, () => 'birthDate').join();
    const first = (await server.send('GET', `/Basic/many/_history?_count=1&_elements=${names}`)).json();
    const next = first.link[1].url as string;
    expect(next.length).toBeLessThan(4096);
    const second = (await server.send('GET', next.slice(`${server.url}/fhir`.length))).json();
    expect(second.entry[0].resource.view).toBe(names);
  });

  it('cut down what is read and what is in a history', async () => {
    await server.send('PUT', '/Basic/a', put('a', '1.0'));
    expect((await server.send('GET', '/Basic/a?_summary=text')).json().view).toBe('text');
    expect((await server.send('GET', '/Basic/a/_history/1?_elements=code,%20subject')).json().view).toBe(
      'code,subject',
    );
    expect((await server.send('GET', '/Basic/_history?_summary=data')).json().entry[0].resource.view).toBe('data');
    expect((await server.send('GET', '/Basic/a?_summary=false')).text).toContain('1.0');
    for (const query of [
      '_summary=count',
      '_summary=x',
      '_summary=true&_elements=code',
      '_summary=true&_summary=text',
    ]) {
      expect(codeOf(await server.send('GET', `/Basic/a?${query}`))).toBe('parameter-invalid');
    }
  });
});

describe('a deletion in a history', () => {
  const server = useToyServer();

  it('stood there with 204 No Content, although its DELETE was answered with 200', async () => {
    await server.send('PUT', '/Basic/gone', put('gone', '1.0'));
    expect((await server.send('DELETE', '/Basic/gone')).status).toBe(200);
    for (const path of ['/Basic/gone/_history', '/Basic/_history', '/_history']) {
      const [{ request, response }] = (await server.send('GET', path)).json().entry;
      expect([path, request.method, response.status]).toEqual([path, 'DELETE', '200 OK']);
    }
  });
});
