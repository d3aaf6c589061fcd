import { afterAll, describe } from 'vitest';

import { openStore } from '../contract/open-store.js';
import { createToyStore } from '../toy/store.js';
import { memberSearches } from './search-members.js';

const sqlite = await openStore('sqlite::memory:');
afterAll(() => sqlite.close());

describe('membership on the toy store', () => memberSearches(createToyStore()));
describe('membership on SQLite', () => memberSearches(sqlite));
