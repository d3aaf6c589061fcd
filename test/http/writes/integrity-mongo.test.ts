import { afterAll } from 'vitest';

import { openStore } from '../../contract/open-store.js';
import { describeOnMongod, mongodUrl, newDatabase } from '../../mongod/for-tests.js';
import { referenceIntegrity } from './integrity.js';

const store = mongodUrl() === undefined ? undefined : await openStore(newDatabase());

describeOnMongod('references that have to lead somewhere, on MongoDB', () => {
  if (store === undefined) return;
  afterAll(() => store.close());
  referenceIntegrity(store);
});
