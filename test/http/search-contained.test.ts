import { afterAll, describe, expect, it } from 'vitest';

import { openStore } from '../contract/open-store.js';
import { createToyStore } from '../toy/store.js';
import { containedSearches } from './search-contained.js';
import { notesOf, useWholeServer } from './search-server.js';

const sqlite = await openStore('sqlite::memory:');
afterAll(() => sqlite.close());

describe('contained resources on the toy store', () => containedSearches(createToyStore()));
describe('contained resources on SQLite', () => containedSearches(sqlite));

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
