import { afterAll, describe } from 'vitest';

import { openStore } from '../../contract/open-store.js';
import { createToyStore } from '../../toy/store.js';
import { wordSearches } from './search-words.js';

const sqlite = await openStore('sqlite::memory:');
afterAll(() => sqlite.close());

describe('full text on the toy store', () => wordSearches(createToyStore()));
describe('full text on SQLite', () => wordSearches(sqlite));
