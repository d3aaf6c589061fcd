import { request } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import type { FindQuery, Store } from '../../../../runtime/store/store.js';
import { DEFAULT_LIMITS } from '../../../../runtime/fhir/limits.js';
import { openStore } from '../../../contract/open-store.js';
import { createToyStore } from '../../../toy/store.js';
import { encounter, hierarchySearches, location, store, useHierarchyServer } from './search-hierarchies.js';
import { idsOf, notesOf } from '../../search-server.js';
import { codeOf } from '../../server.js';

const sqlite = await openStore('sqlite::memory:');
afterAll(() => sqlite.close());

describe('hierarchies on the toy store', () => hierarchySearches(createToyStore()));
describe('hierarchies on SQLite', () => hierarchySearches(sqlite));

describe('hierarchies end', () => {
  const server = useHierarchyServer();
  beforeAll(async () => {
    for (let n = 0; n < 52; n++) await store(server, location(`l${n}`, `Location/l${n + 1}`));
    for (let n = 0; n < 1000; n++) await store(server, location(`w${n}`, 'Location/wide'));
    await store(server, encounter('low', 'Location/l0'));
    await store(server, encounter('high', 'Location/l50'));
    await store(server, encounter('in', 'Location/w999'));
  }, 60_000);
  const search = (query: string) => server.send('GET', `/Encounter?${query}`);

  it('after 50 levels', async () => {
    expect(idsOf(await search('location:above=l2'))).toEqual(['high']);
    expect(idsOf(await search('location:below=l50'))).toEqual(['high', 'low']);
    for (const [query, hint] of [
      ['location:above=l0', 'above Location/l0; name one further up, or search level by level'],
      ['location:below=l51', 'below Location/l51; name one further down, or search level by level'],
    ] as const) {
      const answer = await search(query);
      expect([answer.status, codeOf(answer), answer.json().issue[0].code]).toEqual([503, 'too-costly', 'too-costly']);
      expect(answer.json().issue[0].details.text).toBe(`Hierarchies lead to more than 50 levels, ${hint}`);
    }
  });

  it('after 1,000 resources, all those of one search together', async () => {
    expect(idsOf(await search('location:below=wide'))).toEqual(['in']);
    const two = await search('location:below=wide&location:above=l48');
    expect([two.status, codeOf(two)]).toEqual([503, 'too-costly']);
    expect(two.json().issue[0].details.text).toContain('lead to more than 1000 resources, above Location/l48;');
    await store(server, location('more', 'Location/wide'));
    const answer = await search('location:below=wide,l0');
    expect([answer.status, codeOf(answer)]).toEqual([503, 'too-costly']);
    expect(answer.json().issue[0].details.text).toContain('below Location/wide and 1 more; name one further down');
  });

  it('or are refused, where the type has none or several', async () => {
    for (const query of ['Encounter?patient:below=Patient/1', 'ServiceRequest?based-on:below=CarePlan/1']) {
      const answer = await server.send('GET', `/${query}`);
      expect([answer.status, codeOf(answer)], answer.text).toEqual([400, 'parameter-invalid']);
    }
  });
});

/** A chain of locations that never ends, each level some time away; searches that are stopped are counted. */
function slowStore(time: number) {
  const toy = createToyStore();
  const state = { begun: 0, aborted: 0 };
  const find = (query: FindQuery, signal?: AbortSignal) =>
    new Promise<never>((_resolve, reject) => {
      state.begun++;
      const timer = setTimeout(() => reject(new Error(`nobody stopped ${query.type}`)), time);
      signal?.addEventListener('abort', () => {
        clearTimeout(timer);
        state.aborted++;
        reject(signal.reason as Error);
      });
    });
  const data: Store = { ...toy, find };
  return { data, state };
}

describe('a hierarchy that takes too long', () => {
  const { data, state } = slowStore(10_000);
  const server = useHierarchyServer({ store: data, limits: { ...DEFAULT_LIMITS, queryTime: 500 } });

  it('is given up at the end of the time that a search has', async () => {
    const answer = await server.send('GET', '/Encounter?location:below=a');
    expect([answer.status, codeOf(answer)]).toEqual([503, 'too-costly']);
    expect(state).toEqual({ begun: 1, aborted: 1 });
  });
});

describe('a client that goes away while hierarchies are followed', () => {
  const { data, state } = slowStore(10_000);
  const server = useHierarchyServer({ store: data, limits: { ...DEFAULT_LIMITS, queryTime: 60_000 } });

  it('has the work in the store stopped, which is no defect', async () => {
    const req = request({ host: '127.0.0.1', port: server.port, path: '/fhir/Encounter?location:above=a' });
    req.on('error', () => {});
    req.end();
    await expect.poll(() => state.begun).toBe(1);
    req.destroy();
    await expect.poll(() => state.aborted).toBe(1);
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(server.defects).toEqual([]);
  });
});

describe('index entries of other definitions', () => {
  const server = useHierarchyServer({
    indexStatus: { notCurrent: () => Promise.resolve(['Location.partof', 'Location.name']) },
  });

  it('that are followed are told of', async () => {
    const answer = await server.send('GET', '/Encounter?location:below=a');
    expect(notesOf(answer)).toMatchObject([{ code: 'index-not-current' }]);
    expect(notesOf(answer)[0]?.text).toContain('Location.partof');
    expect(notesOf(answer)[0]?.text).not.toContain('Location.name');
    expect(notesOf(await server.send('GET', '/Encounter?location=a'))).toEqual([]);
  });
});
