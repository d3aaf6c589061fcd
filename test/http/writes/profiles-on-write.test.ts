import { afterAll } from 'vitest';

import { openSqliteStore } from '../../../runtime/store/sqlite/sqlite-store.js';
import { profilesOnWrite } from './profiles-on-write.js';

const store = openSqliteStore('sqlite::memory:');
afterAll(() => store.close());
profilesOnWrite(store);
