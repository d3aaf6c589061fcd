import { afterAll } from 'vitest';

import { openStore } from '../../../contract/open-store.js';
import { describeOnMongod, mongodUrl, newDatabase } from '../../../mongod/for-tests.js';
import { includeSearches } from './search-includes.js';

const store = mongodUrl() === undefined ? undefined : await openStore(newDatabase());

describeOnMongod('includes on MongoDB', () => {
  if (store === undefined) return;
  afterAll(() => store.close());
  includeSearches(store);
});
