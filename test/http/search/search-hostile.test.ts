import { afterAll, describe } from 'vitest';

import { openStore } from '../../contract/open-store.js';
import { hostileSearches } from './search-hostile.js';

const sqlite = await openStore('sqlite::memory:');
afterAll(() => sqlite.close());

describe('hostile searches on SQLite', () => hostileSearches(sqlite));
