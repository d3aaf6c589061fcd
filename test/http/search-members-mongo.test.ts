import { afterAll } from 'vitest';

import { openStore } from '../contract/open-store.js';
import { describeOnMongod, mongodUrl, newDatabase } from '../mongod/for-tests.js';
import { memberSearches } from './search-members.js';

const store = mongodUrl() === undefined ? undefined : await openStore(newDatabase());

describeOnMongod('membership on MongoDB', () => {
  if (store === undefined) return;
  afterAll(() => store.close());
  memberSearches(store);
});
