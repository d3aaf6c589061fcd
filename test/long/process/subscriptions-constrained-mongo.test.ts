import { afterAll } from 'vitest';

import { openStore } from '../../contract/open-store.js';
import { describeOnMongod, mongodUrl, newDatabase } from '../../mongod/for-tests.js';
import { soak } from '../soak.js';
import { receivesAsTokensSearch } from './subscriptions-constrained.js';

const store = mongodUrl() === undefined ? undefined : await openStore(newDatabase());

describeOnMongod('notifications for constrained tokens on MongoDB', () => {
  if (store === undefined) return;
  afterAll(() => store.close());
  receivesAsTokensSearch(store, soak(10));
});
