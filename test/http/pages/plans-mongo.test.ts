import { afterAll } from 'vitest';

import { openStore } from '../../contract/open-store.js';
import { describeOnMongod, mongodUrl, newDatabase } from '../../mongod/for-tests.js';
import { planPages } from './plans.js';

const store = mongodUrl() === undefined ? undefined : await openStore(newDatabase());

describeOnMongod('plans of searches on MongoDB', () => {
  if (store === undefined) return;
  afterAll(() => store.close());
  planPages(store);
});
