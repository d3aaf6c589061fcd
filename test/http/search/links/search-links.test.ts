import { afterAll, describe } from 'vitest';

import { openStore } from '../../../contract/open-store.js';
import { createToyStore } from '../../../toy/store.js';
import { linkSearches } from './search-links.js';

const sqlite = await openStore('sqlite::memory:');
afterAll(() => sqlite.close());

describe('chains and reverse chains on the toy store', () => linkSearches(createToyStore()));
describe('chains and reverse chains on SQLite', () => linkSearches(sqlite));
