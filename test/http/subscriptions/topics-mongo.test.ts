import { afterAll } from 'vitest';

import { openStore } from '../../contract/open-store.js';
import { describeOnMongod, mongodUrl, newDatabase } from '../../mongod/for-tests.js';
import { topics } from './topics.js';

const store = mongodUrl() === undefined ? undefined : await openStore(newDatabase());

describeOnMongod('writes of topics on MongoDB', () => {
  if (store === undefined) return;
  afterAll(() => store.close());
  topics(store);
});
