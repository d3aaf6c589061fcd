import { afterAll } from 'vitest';

import { openStore } from '../../contract/open-store.js';
import { describeOnMongod, mongodUrl, newDatabase } from '../../mongod/for-tests.js';
import { wordSearches } from './search-words.js';

const store = mongodUrl() === undefined ? undefined : await openStore(newDatabase());

describeOnMongod('full text on MongoDB', () => {
  if (store === undefined) return;
  afterAll(() => store.close());
  wordSearches(store);
});
