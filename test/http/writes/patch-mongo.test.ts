import { afterAll } from 'vitest';

import { openStore } from '../../contract/open-store.js';
import { describeOnMongod, mongodUrl, newDatabase } from '../../mongod/for-tests.js';
import { patches } from './patch.js';

const store = mongodUrl() === undefined ? undefined : await openStore(newDatabase());

describeOnMongod('patches on MongoDB', () => {
  if (store === undefined) return;
  afterAll(() => store.close());
  patches(store);
});
