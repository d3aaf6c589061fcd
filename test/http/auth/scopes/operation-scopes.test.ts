import { afterAll, describe } from 'vitest';

import { openStore } from '../../../contract/open-store.js';
import { operationScopes } from './operation-scopes.js';

const store = await openStore('sqlite::memory:');
afterAll(() => store.close());

describe('scopes of operations on SQLite', () => operationScopes(store));
