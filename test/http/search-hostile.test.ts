import { afterAll, describe } from 'vitest';

import { openStore } from '../contract/open-store.js';
import { createToyStore } from '../toy/store.js';
import { hostileSearches } from './search-hostile.js';

const sqlite = await openStore('sqlite::memory:');
afterAll(() => sqlite.close());

describe('hostile searches on the toy store', () => hostileSearches(createToyStore()));
describe('hostile searches on SQLite', () => hostileSearches(sqlite));
