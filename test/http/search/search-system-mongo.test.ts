import { afterAll } from 'vitest';

import { openStore } from '../../contract/open-store.js';
import { describeOnMongod, mongodUrl, newDatabase } from '../../mongod/for-tests.js';
import { systemSearches } from './search-system.js';

const store = mongodUrl() === undefined ? undefined : await openStore(newDatabase());

describeOnMongod('searches over several types on MongoDB', () => {
  if (store === undefined) return;
  afterAll(() => store.close());
  systemSearches(store);
});
