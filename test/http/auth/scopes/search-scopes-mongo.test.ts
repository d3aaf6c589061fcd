import { afterAll, describe } from 'vitest';

import { openStore } from '../../../contract/open-store.js';
import { describeOnMongod, mongodUrl, newDatabase } from '../../../mongod/for-tests.js';
import { criteriaScopes } from './criteria-scopes.js';
import { expungeScopes } from './expunge-scopes.js';
import { searchScopes } from './search-scopes.js';

const store = mongodUrl() === undefined ? undefined : await openStore(newDatabase());

describeOnMongod('searches, criteria and removals within scopes on MongoDB', () => {
  if (store === undefined) return;
  afterAll(() => store.close());
  describe('searches', () => searchScopes(store));
  describe('criteria', () => criteriaScopes(store));
  describe('what is removed for good', () => expungeScopes(store));
});
