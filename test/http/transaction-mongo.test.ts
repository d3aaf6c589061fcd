import { afterAll } from 'vitest';

import { openStore } from '../contract/open-store.js';
import { describeOnMongod, mongodUrl, newDatabase } from '../mongod/for-tests.js';
import { batches } from './batch.js';
import { transactions } from './transaction.js';

const store = mongodUrl() === undefined ? undefined : await openStore(newDatabase());

describeOnMongod('Bundles on MongoDB', () => {
  if (store === undefined) return;
  afterAll(() => store.close());
  transactions(store);
  batches(store);
});
