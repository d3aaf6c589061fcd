import { afterAll } from 'vitest';

import { openStore } from '../../../contract/open-store.js';
import { describeOnMongod, mongodUrl, newDatabase } from '../../../mongod/for-tests.js';
import { containedChains } from './search-contained-chains.js';

const store = mongodUrl() === undefined ? undefined : await openStore(newDatabase());

describeOnMongod('chains into contained resources on MongoDB', () => {
  if (store === undefined) return;
  afterAll(() => store.close());
  containedChains(store);
});
