import { afterAll } from 'vitest';

import { openStore } from '../../../contract/open-store.js';
import { describeOnMongod, mongodUrl, newDatabase } from '../../../mongod/for-tests.js';
import { linkSearches } from './search-links.js';

const store = mongodUrl() === undefined ? undefined : await openStore(newDatabase());

describeOnMongod('chains and reverse chains on MongoDB', () => {
  if (store === undefined) return;
  afterAll(() => store.close());
  linkSearches(store);
});
