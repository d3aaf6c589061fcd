import { afterAll } from 'vitest';

import { openStore } from '../../../contract/open-store.js';
import { describeOnMongod, mongodUrl, newDatabase } from '../../../mongod/for-tests.js';
import { operationScopes } from './operation-scopes.js';

const store = mongodUrl() === undefined ? undefined : await openStore(newDatabase());

describeOnMongod('scopes of operations on MongoDB', () => {
  if (store === undefined) return;
  afterAll(() => store.close());
  operationScopes(store);
});
