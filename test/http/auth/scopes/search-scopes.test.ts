import { afterAll, describe } from 'vitest';

import { openStore } from '../../../contract/open-store.js';
import { createToyStore } from '../../../toy/store.js';
import { searchScopes } from './search-scopes.js';

const sqlite = await openStore('sqlite::memory:');
afterAll(() => sqlite.close());

describe('searches within scopes on the toy store', () => searchScopes(createToyStore()));
describe('searches within scopes on SQLite', () => searchScopes(sqlite));
