import { afterAll } from 'vitest';

import { openStore } from '../../contract/open-store.js';
import { describeOnMongod, mongodUrl, newDatabase } from '../../mongod/for-tests.js';
import { matchesAsTokensSearch } from './constrained.js';

const store = mongodUrl() === undefined ? undefined : await openStore(newDatabase());

describeOnMongod('matching for constrained tokens on MongoDB', () => {
  if (store === undefined) return;
  afterAll(() => store.close());
  matchesAsTokensSearch(store, 40);
});
