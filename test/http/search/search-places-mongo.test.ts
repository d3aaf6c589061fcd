import { afterAll } from 'vitest';

import { openStore } from '../../contract/open-store.js';
import { describeOnMongod, mongodUrl, newDatabase } from '../../mongod/for-tests.js';
import { placeSearches } from './search-places.js';

const store = mongodUrl() === undefined ? undefined : await openStore(newDatabase());

describeOnMongod('places on MongoDB', () => {
  if (store === undefined) return;
  afterAll(() => store.close());
  placeSearches(store);
});
