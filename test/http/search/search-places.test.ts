import { afterAll, describe } from 'vitest';

import { openStore } from '../../contract/open-store.js';
import { createToyStore } from '../../toy/store.js';
import { placeSearches } from './search-places.js';

const sqlite = await openStore('sqlite::memory:');
afterAll(() => sqlite.close());

describe('places on the toy store', () => placeSearches(createToyStore()));
describe('places on SQLite', () => placeSearches(sqlite));
