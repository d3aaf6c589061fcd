import { afterAll, describe } from 'vitest';

import { openStore } from '../../contract/open-store.js';
import { createToyStore } from '../../toy/store.js';
import { systemSearches } from './search-system.js';

const sqlite = await openStore('sqlite::memory:');
afterAll(() => sqlite.close());

describe('searches over several types on the toy store', () => systemSearches(createToyStore()));
describe('searches over several types on SQLite', () => systemSearches(sqlite));
