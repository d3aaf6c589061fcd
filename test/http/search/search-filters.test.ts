import { afterAll, describe } from 'vitest';

import { openStore } from '../../contract/open-store.js';
import { createToyStore } from '../../toy/store.js';
import { filterSearches } from './search-filters.js';

const sqlite = await openStore('sqlite::memory:');
afterAll(() => sqlite.close());

describe('filters on the toy store', () => filterSearches(createToyStore()));
describe('filters on SQLite', () => filterSearches(sqlite));
