import { afterAll } from 'vitest';

import { openStore } from '../../contract/open-store.js';
import { describeOnMongod, mongodUrl, newDatabase } from '../../mongod/for-tests.js';
import { matrix } from './matrix-suite.js';

const store = mongodUrl() === undefined ? undefined : await openStore(newDatabase());

describeOnMongod('scopes and interactions on MongoDB', () => {
  if (store === undefined) return;
  afterAll(() => store.close());
  matrix(store);
});
