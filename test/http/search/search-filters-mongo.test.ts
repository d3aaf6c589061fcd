import { afterAll } from 'vitest';

import { openStore } from '../../contract/open-store.js';
import { describeOnMongod, mongodUrl, newDatabase } from '../../mongod/for-tests.js';
import { filterSearches } from './search-filters.js';

const store = mongodUrl() === undefined ? undefined : await openStore(newDatabase());

describeOnMongod('filters on MongoDB', () => {
  if (store === undefined) return;
  afterAll(() => store.close());
  filterSearches(store);
});
