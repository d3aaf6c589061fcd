import { afterAll } from 'vitest';

import { openStore } from '../../contract/open-store.js';
import { describeOnMongod, mongodUrl, newDatabase } from '../../mongod/for-tests.js';
import { subscriptions } from './subscriptions.js';

const store = mongodUrl() === undefined ? undefined : await openStore(newDatabase());

describeOnMongod('writes of subscriptions on MongoDB', () => {
  if (store === undefined) return;
  afterAll(() => store.close());
  subscriptions(store);
});
