import { afterAll } from 'vitest';

import { openStore } from '../../../contract/open-store.js';
import { describeOnMongod, mongodUrl, newDatabase } from '../../../mongod/for-tests.js';
import { ownBases } from './own-bases.js';

const store = mongodUrl() === undefined ? undefined : await openStore(newDatabase());

describeOnMongod('references to this server on MongoDB', () => {
  if (store === undefined) return;
  afterAll(() => store.close());
  ownBases(store);
});
