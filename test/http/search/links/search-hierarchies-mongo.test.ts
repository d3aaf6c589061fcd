import { afterAll } from 'vitest';

import { openStore } from '../../../contract/open-store.js';
import { describeOnMongod, mongodUrl, newDatabase } from '../../../mongod/for-tests.js';
import { hierarchySearches } from './search-hierarchies.js';

const store = mongodUrl() === undefined ? undefined : await openStore(newDatabase());

describeOnMongod('hierarchies on MongoDB', () => {
  if (store === undefined) return;
  afterAll(() => store.close());
  hierarchySearches(store);
});
