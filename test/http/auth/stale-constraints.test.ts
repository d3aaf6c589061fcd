import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { openStore } from '../../contract/open-store.js';
import { EVERYTHING, LAB, observed, serveWith } from './support.js';

let notCurrent: readonly string[] = [];
const store = await openStore('sqlite::memory:');
afterAll(() => store.close());

describe('a constraint by what other definitions indexed', () => {
  const server = serveWith(store, { currency: { notCurrent: () => Promise.resolve(notCurrent) } });
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
