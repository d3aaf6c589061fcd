import { afterAll, describe } from 'vitest';

import { openStore } from '../../contract/open-store.js';
import { planPages } from './plans.js';

const store = await openStore('sqlite::memory:');
afterAll(() => store.close());

describe('plans of searches on SQLite', () => planPages(store));
