import { afterAll } from 'vitest';

import { openStore } from '../../contract/open-store.js';
import { describeOnMongod, mongodUrl, newDatabase } from '../../mongod/for-tests.js';
import { wholeWrites } from './subsetted.js';

const store = mongodUrl() === undefined ? undefined : await openStore(newDatabase());

describeOnMongod('whole writes on MongoDB', () => {
  if (store === undefined) return;
  afterAll(() => store.close());
  wholeWrites(store);
});
