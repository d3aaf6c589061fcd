import { afterAll } from 'vitest';

import { openStore } from '../contract/open-store.js';
import { describeOnMongod, mongodUrl, newDatabase } from '../mongod/for-tests.js';
import { containedSearches } from './search-contained.js';
import { containedChains } from './search-contained-chains.js';

const open = () => (mongodUrl() === undefined ? undefined : openStore(newDatabase()));
const [store, chained] = [await open(), await open()];

describeOnMongod('contained resources on MongoDB', () => {
  if (store === undefined) return;
  afterAll(() => store.close());
  containedSearches(store);
});

describeOnMongod('chains into contained resources on MongoDB', () => {
  if (chained === undefined) return;
  afterAll(() => chained.close());
  containedChains(chained);
});
