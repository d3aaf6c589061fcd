import { afterAll } from 'vitest';

import { openSqliteStore } from '../../../runtime/store/sqlite/sqlite-store.js';
import { shippedDefinitions } from './shipped-definitions.js';

const store = openSqliteStore('sqlite::memory:');
afterAll(() => store.close());
shippedDefinitions(store);
