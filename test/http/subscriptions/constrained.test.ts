import { afterAll, describe } from 'vitest';

import { openStore } from '../../contract/open-store.js';
import { matchesAsTokensSearch } from './constrained.js';

const store = await openStore('sqlite::memory:');

describe('matching for constrained tokens on SQLite', () => {
  afterAll(() => store.close());
  matchesAsTokensSearch(store, 40);
});
