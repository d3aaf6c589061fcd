import { afterAll, describe } from 'vitest';

import { openStore } from '../../../contract/open-store.js';
import { describeOnMongod, mongodUrl, newDatabase } from '../../../mongod/for-tests.js';
import { graphSearches, smallGraphSearches } from './search-graphs.js';

const stores =
  mongodUrl() === undefined ? [] : await Promise.all([newDatabase(), newDatabase()].map((url) => openStore(url)));

describeOnMongod('graphs on MongoDB', () => {
  const [store, small] = stores;
  if (store === undefined || small === undefined) return;
  afterAll(() => Promise.all([store.close(), small.close()]));
  graphSearches(store);
  describe('in small pages', () => smallGraphSearches(small));
});
