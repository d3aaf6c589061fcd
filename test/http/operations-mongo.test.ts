import { afterAll } from 'vitest';

import { openStore } from '../contract/open-store.js';
import { describeOnMongod, mongodUrl, newDatabase } from '../mongod/for-tests.js';
import { operations } from './operations.js';

const store = mongodUrl() === undefined ? undefined : await openStore(newDatabase());

describeOnMongod('operations on MongoDB', () => {
  if (store === undefined) return;
  afterAll(() => store.close());
  operations(store);
});
