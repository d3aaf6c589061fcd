import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { openStore } from '../../../contract/open-store.js';
import { codeOf } from '../../server.js';
import { EVERYTHING, LAB, observed, serveWith } from '../support.js';

let notCurrent: readonly string[] = [];
const store = await openStore('sqlite::memory:');
afterAll(() => store.close());

describe('a constraint by what other definitions indexed', () => {
  const server = serveWith(store, { indexStatus: { notCurrent: () => Promise.resolve(notCurrent) } });
  const bound = server.as(`system/Observation.cruds?${LAB} system/Patient.rs`);
  const status = async (path: string, client = bound) => (await client.send('GET', path)).status;

  beforeAll(async () => {
    await server.as(EVERYTHING).send('PUT', '/Observation/seen', { ...observed('laboratory'), id: 'seen' });
  });

  it.each([
    '/Observation',
    '/Observation?_summary=count',
    '/?_type=Observation,Patient',
    '/Patient?_has:Observation:patient:status=final',
    '/Patient?_revinclude=Observation:subject',
    '/Patient/1/Observation',
  ])('could show what it excludes: %s is refused until the index is made anew', async (path) => {
    expect(await status(path)).toBe(200);
    notCurrent = ['Observation.category'];
    expect(await status(path)).toBe(503);
    expect(await status(path, server.as(EVERYTHING))).toBe(200);
    notCurrent = ['Observation.code', 'Encounter.status'];
    expect(await status(path)).toBe(200);
    notCurrent = [];
  });

  describe('by what other programs indexed of contained resources', () => {
    const within = server.as(`system/Observation.s?${LAB} system/Basic.s`);
    beforeAll(async () => {
      const contained = [{ ...observed('laboratory'), id: 'o' }];
      const container = { resourceType: 'Basic', id: 'b', code: { text: 'x' }, contained };
      expect((await server.as(EVERYTHING).send('PUT', '/Basic/b', container)).status).toBe(201);
    });

    it.each(['_contained=true', '_contained=both', '_contained=true&_containedType=contained'])(
      'could show what it excludes: %s is refused until the index is made anew',
      async (query) => {
        const path = `/Observation?${query}`;
        expect(await status(path, within)).toBe(200);
        notCurrent = ['_contained'];
        const refused = await within.send('GET', path);
        expect([refused.status, codeOf(refused)]).toEqual([503, 'index-not-current']);
        expect(refused.text).toContain('Index entries of _contained were made');
        expect(refused.text).toContain('. The scopes of the token go by them');
        expect(await status(path, server.as(EVERYTHING))).toBe(200);
        // Containers are judged by their own.
        expect(await status(path, server.as('system/Observation.s system/Basic.s?_tag=in'))).toBe(200);
        notCurrent = ['Observation.category'];
        expect(await status(path, within)).toBe(503);
        notCurrent = [];
      },
    );

    it('matters to no search that looks into no containers', async () => {
      notCurrent = ['_contained'];
      expect(await status('/Observation', within)).toBe(200);
      expect(await status('/Observation?_contained=false', within)).toBe(200);
      notCurrent = [];
    });
  });

  it('bounds criteria of writes as little', async () => {
    const create = async () =>
      (await bound.send('POST', '/Observation', observed('laboratory'), { 'If-None-Exist': 'status=final' })).status;
    notCurrent = ['Observation.category'];
    expect(await create()).toBe(503);
    notCurrent = [];
    expect(await create()).toBeLessThan(300);
  });

  it('does not matter to searches of other types', async () => {
    notCurrent = ['Observation.category'];
    expect(await status('/Patient')).toBe(200);
    expect(await status('/Observation/seen')).toBe(200);
    notCurrent = [];
  });
});
