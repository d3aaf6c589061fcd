import { afterAll, describe } from 'vitest';

import { openStore } from '../../contract/open-store.js';
import { soak } from '../soak.js';
import { receivesAsTokensSearch } from './subscriptions-constrained.js';

const store = await openStore('sqlite::memory:');

describe('notifications for constrained tokens on SQLite', () => {
  afterAll(() => store.close());
  receivesAsTokensSearch(store, soak(15));
});
