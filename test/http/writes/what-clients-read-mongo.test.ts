import { afterAll } from 'vitest';

import { openStore } from '../../contract/open-store.js';
import { describeOnMongod, mongodUrl, newDatabase } from '../../mongod/for-tests.js';
import { whatClientsRead } from './what-clients-read.js';

const store = mongodUrl() === undefined ? undefined : await openStore(newDatabase());

describeOnMongod('what other clients send and read, on MongoDB', () => {
  if (store === undefined) return;
  afterAll(() => store.close());
  whatClientsRead(store);
});
