import { afterAll } from 'vitest';

import { openStore } from '../../contract/open-store.js';
import { describeOnMongod, mongodUrl, newDatabase } from '../../mongod/for-tests.js';
import { publishedBundles } from './published-bundles.js';

const store = mongodUrl() === undefined ? undefined : await openStore(newDatabase());

describeOnMongod('published Bundles on MongoDB', () => {
  if (store === undefined) return;
  afterAll(() => store.close());
  publishedBundles(store);
});
