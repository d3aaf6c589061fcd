import { afterAll, describe } from 'vitest';

import { openStore } from '../../../contract/open-store.js';
import { createToyStore } from '../../../toy/store.js';
import { criteriaScopes } from './criteria-scopes.js';

const sqlite = await openStore('sqlite::memory:');
afterAll(() => sqlite.close());

describe('criteria within scopes on the toy store', () => criteriaScopes(createToyStore()));
describe('criteria within scopes on SQLite', () => criteriaScopes(sqlite));
