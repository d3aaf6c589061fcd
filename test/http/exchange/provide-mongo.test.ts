import { afterAll } from 'vitest';

import { openStore } from '../../contract/open-store.js';
import { describeOnMongod, mongodUrl, newDatabase } from '../../mongod/for-tests.js';
import { providing } from './provide.js';

const store = mongodUrl() === undefined ? undefined : await openStore(newDatabase());

describeOnMongod('Bundles that provide documents on MongoDB', () => {
  if (store === undefined) return;
  afterAll(() => store.close());
  providing(store);
});
