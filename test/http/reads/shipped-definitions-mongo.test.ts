import { afterAll } from 'vitest';

import { openStore } from '../../contract/open-store.js';
import { describeOnMongod, mongodUrl, newDatabase } from '../../mongod/for-tests.js';
import { shippedDefinitions } from './shipped-definitions.js';

const store = mongodUrl() === undefined ? undefined : await openStore(newDatabase());

describeOnMongod('shipped definitions on MongoDB', () => {
  if (store === undefined) return;
  afterAll(() => store.close());
  shippedDefinitions(store);
});
