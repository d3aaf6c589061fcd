import { afterAll, describe } from 'vitest';

import { openStore } from '../../contract/open-store.js';
import { createToyStore } from '../../toy/store.js';
import { compartmentSearches } from './compartments.js';

const sqlite = await openStore('sqlite::memory:');
afterAll(() => sqlite.close());

describe('compartments on the toy store', () => compartmentSearches(createToyStore()));
describe('compartments on SQLite', () => compartmentSearches(sqlite));
