import { afterAll, describe } from 'vitest';

import { openStore } from '../../../contract/open-store.js';
import { describeOnMongod, mongodUrl, newDatabase } from '../../../mongod/for-tests.js';
import { criteriaScopes } from './criteria-scopes.js';
import { searchScopes } from './search-scopes.js';

const store = mongodUrl() === undefined ? undefined : await openStore(newDatabase());

describeOnMongod('searches and criteria within scopes on MongoDB', () => {
  if (store === undefined) return;
  afterAll(() => store.close());
  describe('searches', () => searchScopes(store));
  describe('criteria', () => criteriaScopes(store));
});
