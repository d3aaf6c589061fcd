import { beforeAll, describe, expect, it } from 'vitest';

import type { Store } from '../../../runtime/store/store.js';
import type { Answer } from '../server.js';
import { EVERYTHING, LAB, observed, serveWith } from './support.js';

/** What an answer tells, but for the id that was asked for. */
const told = ({ status, text, headers }: Answer, id: string): unknown[] => [
  status,
  text.replaceAll(id, 'ID'),
  Object.keys(headers).sort().join(),
];

/** Reads and histories of clients with scopes. */
export function reads(store: Store): void {
  const server = serveWith(store);
  const admin = server.as(EVERYTHING);
  const lab = server.as(`system/Observation.rs?${LAB}`);
  const put = (id: string, category: Parameters<typeof observed>[0]) =>
    admin.send('PUT', `/Observation/${id}`, observed(category, { id }));
  const pathsOf = (answer: Answer): string[] =>
    (answer.json().entry ?? []).map((each: { fullUrl: string; response: { etag: string } }) =>
      `${each.fullUrl.replace(/.*\/fhir\//, '')} ${each.response.etag}`.replace(/ W\/"(\d+)"/, '/$1'),
    );
  const walk = async (scopes: string, first: string): Promise<Answer[]> => {
    const pages: Answer[] = [];
    for (let path: string | undefined = first; path !== undefined;) {
      const page = await server.as(scopes).send('GET', path);
      expect(page.status, page.text).toBe(200);
      pages.push(page);
      const next = page.json().link.find((each: { relation: string }) => each.relation === 'next');
      path = next?.url.replace(/.*\/fhir/, '');
    }
    return pages;
  };

  beforeAll(async () => {
    // o1: in, out, in; o2: out, then gone; o3: in, then gone; o4: in, then out; o5: out.
    await put('o5', 'vital-signs');
    for (const category of ['laboratory', 'vital-signs', 'laboratory'] as const) await put('o1', category);
    await put('o2', 'vital-signs');
    await put('o3', 'laboratory');
    await put('o4', 'laboratory');
    await put('o4', 'vital-signs');
    await admin.send('DELETE', '/Observation/o2');
    await admin.send('DELETE', '/Observation/o3');
    await admin.send('PUT', '/Patient/p', { resourceType: 'Patient', id: 'p' });
  });

  describe('a read within a constraint', () => {
    it.each([
      ['/Observation/o1', 200],
      ['/Observation/o2', 404],
      ['/Observation/o3', 410],
      ['/Observation/o4', 404],
      ['/Observation/o1/_history/1', 200],
      ['/Observation/o1/_history/2', 404],
      ['/Observation/o2/_history/2', 404],
      ['/Observation/o3/_history/2', 410],
      ['/Observation/o4/_history/1', 200],
      ['/Observation/o5/_history/1', 404],
    ])('%s is %i', async (path, status) => {
      expect((await lab.send('GET', path)).status).toBe(status);
      expect((await lab.send('HEAD', path)).status).toBe(status);
    });

    it('cannot tell what is hidden from what is not there', async () => {
      for (const [method, hidden, absent, headers] of [
        ['GET', 'o4', 'none', {}],
        ['GET', 'o2', 'none', {}],
        ['GET', 'o4', 'none', { 'if-none-match': 'W/"2"' }],
        ['GET', 'o4', 'none', { 'if-none-match': 'what' }],
        ['GET', 'o4', 'none', { 'if-modified-since': 'Sun, 06 Nov 2094 08:49:37 GMT' }],
        ['HEAD', 'o4', 'none', {}],
        ['GET', 'o4/_history/2', 'none/_history/2', {}],
        ['GET', 'o2/_history', 'none/_history', {}],
        ['GET', 'o5/_history/1', 'none/_history/1', {}],
        ['GET', 'o5/_history/2', 'none/_history/2', {}],
        ['GET', 'o5/_history', 'none/_history', {}],
        ['GET', 'o5/_history?_summary=count', 'none/_history?_summary=count', {}],
      ] as const) {
        const [one, other] = await Promise.all(
          [hidden, absent].map((id) => lab.send(method, `/Observation/${id}`, undefined, headers)),
        );
        expect(told(one!, hidden.slice(0, 2))).toEqual(told(other!, 'none'));
      }
    });

    it('finds what it has unchanged', async () => {
      expect((await lab.send('GET', '/Observation/o1', undefined, { 'if-none-match': 'W/"3"' })).status).toBe(304);
    });
  });

  describe('a history within a constraint', () => {
    it('of an instance shows the versions that lie within, and counts them', async () => {
      const answer = await lab.send('GET', '/Observation/o1/_history');
      expect(pathsOf(answer)).toEqual(['Observation/o1/3', 'Observation/o1/1']);
      expect(answer.json().total).toBe(2);
      expect(pathsOf(await lab.send('GET', '/Observation/o3/_history'))).toEqual([
        'Observation/o3/2',
        'Observation/o3/1',
      ]);
      expect(pathsOf(await lab.send('GET', '/Observation/o4/_history'))).toEqual(['Observation/o4/1']);
    });

    it('of an instance without such a version is 404, however little is asked for', async () => {
      for (const id of ['o2', 'o5']) {
        for (const query of ['', '?_count=0', '?_summary=count', '?_since=2094']) {
          expect((await lab.send('GET', `/Observation/${id}/_history${query}`)).status, query).toBe(404);
        }
      }
      expect((await lab.send('GET', '/Observation/o1/_history?_since=2094')).json().total).toBe(0);
    });

    const SEEN = ['o3/2', 'o4/1', 'o3/1', 'o1/3', 'o1/1'].map((path) => `Observation/${path}`);

    it.each([1, 2, 3, 4, 5, 6])(
      'of a type fills pages of %i, none of them empty, with a total where one is all: to count beyond tells what is hidden',
      async (count) => {
        const pages = await walk(`system/Observation.s?${LAB}`, `/Observation/_history?_count=${count}`);
        expect(pages.flatMap(pathsOf)).toEqual(SEEN);
        expect(pages.map((page) => pathsOf(page).length)).toEqual(
          Array.from({ length: Math.ceil(5 / count) }, (_, i) => Math.min(count, 5 - i * count)),
        );
        for (const page of pages) expect(page.json().total).toBe(count < 5 ? undefined : 5);
      },
    );

    it('is counted', async () => {
      expect((await lab.send('GET', '/Observation/_history?_summary=count')).json().total).toBe(5);
      expect((await lab.send('GET', '/_history?_count=0')).json().total).toBe(5);
    });

    it('of the system shows types with s, deletions too', async () => {
      expect((await walk(`system/Observation.s?${LAB}`, '/_history?_count=2')).flatMap(pathsOf)).toEqual(SEEN);
      expect((await walk('system/Patient.s', '/_history')).flatMap(pathsOf)).toEqual(['Patient/p/1']);
      const both = await walk(`system/Patient.s system/Observation.s?${LAB}`, '/_history?_count=2');
      expect(both.flatMap(pathsOf)).toEqual(['Patient/p/1', ...SEEN]);
      for (const page of both) expect(page.json().total).toBeUndefined();
      expect((await server.as('system/*.r').send('GET', '/_history')).status).toBe(403);
    });

    it('goes on with the scopes of who goes on', async () => {
      const first = await admin.send('GET', '/Observation/_history?_count=1');
      const next = first.json().link[1].url.replace(/.*\/fhir/, '');
      expect((await server.as('system/Observation.r').send('GET', next)).status).toBe(403);
      const page = await lab.send('GET', next);
      expect(pathsOf(page)).toEqual(['Observation/o4/1']);
      expect(page.json().total, 'what whoever began could see').toBeUndefined();
    });

    it('goes on without the total of who may see other types', async () => {
      const whole = await admin.send('GET', '/_history?_count=1');
      const next = whole.json().link[1].url.replace(/.*\/fhir/, '');
      for (const scope of ['system/Observation.s', 'system/Patient.s', 'system/Patient.rs system/Group.s']) {
        const page = await server.as(scope).send('GET', next);
        expect([page.status, page.json().total], scope).toEqual([200, undefined]);
      }
      for (const page of await walk('system/Observation.s', '/_history?_count=2')) {
        expect(page.json().total).toBe((await server.as('system/Observation.s').send('GET', '/_history')).json().total);
      }
    });
  });
}
