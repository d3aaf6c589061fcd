import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { openSqliteStore } from '../../../runtime/store/sqlite/sqlite-store.js';
import { codeOf, useToyServer, type Answer } from '../server.js';
import { FORM_TYPE, idsOf, linkOf, useSearchServer } from '../search-server.js';

describe('pages of a search (http.html#paging)', () => {
  const server = useSearchServer();

  beforeAll(async () => {
    for (let n = 0; n < 7; n++) {
      const gender = n % 2 === 0 ? 'male' : 'female';
      await server.send('PUT', `/Patient/p${n}`, { resourceType: 'Patient', id: `p${n}`, gender });
    }
  });

  async function walk(first: string): Promise<{ pages: string[][]; answers: Answer[] }> {
    const answers: Answer[] = [];
    for (let url: string | undefined = first; url !== undefined && answers.length < 20;) {
      const answer = await server.send('GET', url);
      expect([url.slice(0, 40), answer.status]).toEqual([url.slice(0, 40), 200]);
      answers.push(answer);
      url = linkOf(answer, 'next');
    }
    return { pages: answers.map(idsOf), answers };
  }

  it('each match once, the total on each page, self its own address', async () => {
    const { pages, answers } = await walk('/Patient?_count=3&_format=json');
    expect(pages).toEqual([['p0', 'p1', 'p2'], ['p3', 'p4', 'p5'], ['p6']]);
    expect(answers.map((answer) => answer.json().total)).toEqual([7, 7, 7]);
    expect(linkOf(answers[0]!, 'self')).toBe('/Patient?_count=3&_format=json');
    expect(linkOf(answers[1]!, 'self')).toBe(linkOf(answers[0]!, 'next'));
    expect(linkOf(answers[0]!, 'next')).toMatch(/^\/Patient\?_page=[\w-]+&_format=json$/);
  });

  it('criteria, order, view and total of the first page hold on all', async () => {
    const { pages, answers } = await walk('/Patient?gender=male&_sort=-_id&_count=2&_elements=gender&_total=none');
    expect(pages).toEqual([
      ['p6', 'p4'],
      ['p2', 'p0'],
    ]);
    for (const answer of answers) {
      expect(answer.json()).not.toHaveProperty('total');
      expect(answer.json().entry[0].resource.meta.tag[0].code).toBe('SUBSETTED');
    }
  });

  it('_maxresults ends the walk, and changes no total', async () => {
    const { pages, answers } = await walk('/Patient?_maxresults=5&_count=2');
    expect(pages).toEqual([['p0', 'p1'], ['p2', 'p3'], ['p4']]);
    expect(answers.map((answer) => answer.json().total)).toEqual([7, 7, 7]);
    expect(linkOf(answers[0]!, 'self')).toBe('/Patient?_maxresults=5&_count=2');
    expect((await walk('/Patient?_maxresults=2&_count=2')).pages).toEqual([['p0', 'p1']]);
  });

  it('"about now" means the same on each page, whenever it is asked for', async () => {
    const year = new Date().getUTCFullYear();
    await server.send('PUT', '/Patient/old1', { resourceType: 'Patient', id: 'old1', birthDate: '1900' });
    await server.send('PUT', '/Patient/old2', { resourceType: 'Patient', id: 'old2', birthDate: '1900' });
    const { pages } = await walk(`/Patient?birthdate=ap${1900 + Math.floor((year - 1900) / 20)}&_count=1`);
    expect(pages).toEqual([['old1'], ['old2']]);
    await server.send('DELETE', '/Patient/old1');
    await server.send('DELETE', '/Patient/old2');
  });

  it('long queries and long places are kept in the store: links stay short', async () => {
    const ids = Array.from({ length: 3000 }, (_, n) => `p${n}`).join(',');
    const first = await server.send('POST', '/Patient/_search', `_id=${ids}&_count=4`, FORM_TYPE);
    const next = linkOf(first, 'next') ?? '';
    expect(next.length).toBeLessThan(400);
    expect(idsOf(await server.send('GET', next))).toEqual(['p4', 'p5', 'p6']);
  });

  it('refuses links that are forged, cut, of another type or interaction, and anything beside them', async () => {
    const next = linkOf(await server.send('GET', '/Patient?_count=1'), 'next') ?? '';
    const token = new URLSearchParams(next.split('?')[1]).get('_page') ?? '';
    const flipped = token.slice(0, 30) + (token[30] === 'A' ? 'B' : 'A') + token.slice(31);
    const history = (await server.send('GET', '/Patient/_history?_count=1')).json().link[1].url as string;
    const foreign = new URL(history).searchParams.get('_page');
    for (const path of [
      `/Patient?_page=${flipped}`,
      `/Patient?_page=${token.slice(0, -4)}`,
      '/Patient?_page=x',
      '/Patient?_page=',
      `/Observation?_page=${token}`,
      `/Patient?_page=${foreign}`,
      `/Patient/_history?_page=${token}`,
    ]) {
      const answer = await server.send('GET', path);
      expect([path.slice(0, 24), answer.status, codeOf(answer)]).toEqual([path.slice(0, 24), 400, 'page-invalid']);
    }
    for (const more of ['gender=male', `_page=${token}`]) {
      expect(codeOf(await server.send('GET', `${next}&${more}`))).toBe('parameter-invalid');
    }
    expect((await server.send('GET', next)).status).toBe(200);
  });
});

describe('an empty store', () => {
  const store = openSqliteStore('sqlite::memory:');
  afterAll(() => store.close());
  const server = useSearchServer({ store });

  it.each(['/Patient', '/_history', '/Patient/_history'])('%s was complete up to 1970', async (path) => {
    const answer = await server.send('GET', path);
    expect([answer.status, answer.json().total]).toEqual([200, 0]);
    expect(answer.json()).not.toHaveProperty('meta');
  });
});

describe('a server that works with a small set of tables', () => {
  const server = useToyServer();

  it('finds by what its tables have; views that it has not are refused', async () => {
    await server.send('PUT', '/Patient/a', { resourceType: 'Patient', id: 'a', name: [{ family: 'Love' }] });
    expect(idsOf(await server.send('GET', '/Patient?family=lo'))).toEqual(['a']);
    expect(codeOf(await server.send('GET', '/Patient?_elements=name'))).toBe('parameter-unknown');
    expect(codeOf(await server.send('GET', '/Patient?_summary=true'))).toBe('parameter-unknown');
    expect((await server.send('GET', '/Patient?_summary=false')).status).toBe(200);
    expect(server.defects).toEqual([]);
  });

  it('a Binary is found with its content', async () => {
    await server.send('PUT', '/Binary/b', 'some bytes', { 'content-type': 'text/plain' });
    const { entry } = (await server.send('GET', '/Binary?_id=b')).json();
    expect(entry[0].resource).toMatchObject({
      contentType: 'text/plain',
      data: Buffer.from('some bytes').toString('base64'),
    });
  });
});
