import { afterAll } from 'vitest';

import { openStore } from '../../contract/open-store.js';
import { describeOnMongod, mongodUrl, newDatabase } from '../../mongod/for-tests.js';
import { hostileSearches } from './search-hostile.js';

const store = mongodUrl() === undefined ? undefined : await openStore(newDatabase());

describeOnMongod('hostile searches on MongoDB', () => {
  if (store === undefined) return;
  afterAll(() => store.close());
  hostileSearches(store);
});
