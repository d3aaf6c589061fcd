import { afterAll, describe, expect, it } from 'vitest';

import { processorTime } from '../../../processor-time.js';
import { openStore } from '../../../contract/open-store.js';
import { createToyStore } from '../../../toy/store.js';
import { includeSearches } from './search-includes.js';
import { includedIn, linkOf, notesOf, putAll, useWholeServer } from '../../search-server.js';

const sqlite = await openStore('sqlite::memory:');
afterAll(() => sqlite.close());

describe('includes on the toy store', () => includeSearches(createToyStore()));
describe('includes on SQLite', () => includeSearches(sqlite));

describe('the bounds of a configuration', () => {
  const server = useWholeServer({ search: { includes: 2, includeRounds: 0, links: 1 } });

  it('are those that count', async () => {
    await putAll(
      server,
      [1, 2, 3, 4].map((n) => ({
        resourceType: 'Location',
        id: `l${n}`,
        partOf: { reference: `Location/l${n + 1}` },
      })),
    );
    const cut = await server.send('GET', '/Location?_id=l1&_include:iterate=Location:partof');
    expect([includedIn(cut), notesOf(cut).length]).toEqual([['Location/l2'], 1]);
    const most = await server.send('GET', '/Location?_id=l2,l3&_include=Location:partof&_revinclude=Location:partof');
    expect([includedIn(most), notesOf(most)]).toEqual([['Location/l1', 'Location/l4'], []]);
    const deep = await server.send('GET', '/Location?partof.partof.name=x');
    expect(deep.status).toBe(400);
  });
});

describe('includes that go by entries of other definitions', () => {
  const currency = { notCurrent: () => Promise.resolve(['Observation.subject', 'Patient.name']) };
  const server = useWholeServer({ indexStatus: currency });

  it('are told of', async () => {
    const of = async (path: string) => notesOf(await server.send('GET', path)).map(({ text }) => text);
    expect(await of('/Patient?_revinclude=Observation:subject')).toEqual([
      expect.stringContaining('Observation.subject'),
    ]);
    expect(await of('/Observation?subject:Patient.name=x')).toEqual([
      expect.stringMatching(/Observation\.subject.*Patient\.name/) as string,
    ]);
    expect(await of('/Patient/1/Observation')).toEqual([expect.stringContaining('Observation.subject')]);
    expect(await of('/Observation?_revinclude=Observation:derived-from')).toEqual([]);
  });
});

describe('a search, during which the last resource is indexed', () => {
  let rows: readonly string[] = ['Patient.name'];
  const store = createToyStore();
  const server = useWholeServer({
    indexStatus: { notCurrent: () => Promise.resolve(rows) },
    store: Object.assign(Object.create(store) as typeof store, {
      find: async (...asked: Parameters<typeof store.find>) => {
        const page = await store.find(...asked);
        rows = [];
        return page;
      },
    }),
  });

  it('says that it may have missed it, and the next one does not', async () => {
    const warned = notesOf(await server.send('GET', '/Patient?name=x')).map(({ text }) => text);
    expect(warned).toEqual([expect.stringContaining('Patient.name')]);
    expect(notesOf(await server.send('GET', '/Patient?name=x'))).toEqual([]);
  });
});

describe('all includes, asked for a hundred times', () => {
  const server = useWholeServer();

  it('cost what one does, also in a batch', async () => {
    const once = '_include%3Aiterate=*&_revinclude%3Aiterate=*';
    const path = `/Patient?_id=none&${Array.from({ length: 99 }, () => once).join('&')}`;
    const answer = await server.send('GET', path);
    expect(linkOf(answer, 'self')).toBe(`/Patient?_id=none&${once}`);
    const entry = Array.from({ length: 16 }, () => ({ request: { method: 'GET', url: path.slice(1) } }));
    const took = processorTime();
    const batch = await server.send('POST', '', { resourceType: 'Bundle', type: 'batch', entry });
    expect(batch.json().entry).toHaveLength(entry.length);
    // It was a second for each.
    expect(took()).toBeLessThan(5000);
  });
});
