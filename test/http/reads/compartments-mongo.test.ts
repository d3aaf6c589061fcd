import { afterAll } from 'vitest';

import { openStore } from '../../contract/open-store.js';
import { describeOnMongod, mongodUrl, newDatabase } from '../../mongod/for-tests.js';
import { compartmentSearches } from './compartments.js';

const store = mongodUrl() === undefined ? undefined : await openStore(newDatabase());

describeOnMongod('compartments on MongoDB', () => {
  if (store === undefined) return;
  afterAll(() => store.close());
  compartmentSearches(store);
});
