import { afterAll, describe, expect, it } from 'vitest';

import { openStore } from '../contract/open-store.js';
import { createToyStore } from '../toy/store.js';
import { containedSearches } from './search-contained.js';
import { containedChains } from './search-contained-chains.js';
import { notesOf, useWholeServer } from './search-server.js';

const [sqlite, chained] = [await openStore('sqlite::memory:'), await openStore('sqlite::memory:')];
afterAll(() => Promise.all([sqlite.close(), chained.close()]));

describe('contained resources on the toy store', () => containedSearches(createToyStore()));
describe('contained resources on SQLite', () => containedSearches(sqlite));
describe('chains into contained resources on the toy store', () => containedChains(createToyStore()));
describe('chains into contained resources on SQLite', () => containedChains(chained));

describe('entries of what is contained that are missing', () => {
  const server = useWholeServer({
    store: createToyStore(),
    currency: { notCurrent: () => Promise.resolve(['_contained']) },
  });

  it('are told by searches that look for them alone', async () => {
    const answer = await server.send('GET', '/Medication?_contained=true');
    expect(notesOf(answer)).toMatchObject([{ code: 'index-not-current', severity: 'warning' }]);
    expect(notesOf(answer)[0]?.text).toContain('Index entries of _contained were made by other definitions');
    expect(notesOf(await server.send('GET', '/Medication?_contained=false'))).toEqual([]);
  });
});
