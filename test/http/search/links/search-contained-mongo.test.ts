import { afterAll } from 'vitest';

import { openStore } from '../../../contract/open-store.js';
import { describeOnMongod, mongodUrl, newDatabase } from '../../../mongod/for-tests.js';
import { containedSearches } from './search-contained.js';

const store = mongodUrl() === undefined ? undefined : await openStore(newDatabase());

describeOnMongod('contained resources on MongoDB', () => {
  if (store === undefined) return;
  afterAll(() => store.close());
  containedSearches(store);
});
