import { afterAll, describe } from 'vitest';

import { openStore } from '../../contract/open-store.js';
import { wholeWrites } from './subsetted.js';

const store = await openStore('sqlite::memory:');
afterAll(() => store.close());

describe('whole writes on SQLite', () => wholeWrites(store));
