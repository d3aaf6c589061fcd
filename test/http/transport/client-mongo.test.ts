import { afterAll } from 'vitest';

import { openStore } from '../../contract/open-store.js';
import { describeOnMongod, mongodUrl, newDatabase } from '../../mongod/for-tests.js';
import { clientSuite } from './client.js';

const store = mongodUrl() === undefined ? undefined : await openStore(newDatabase());

describeOnMongod('the typed client, on MongoDB', () => {
  if (store === undefined) return;
  afterAll(() => store.close());
  clientSuite(store);
});
