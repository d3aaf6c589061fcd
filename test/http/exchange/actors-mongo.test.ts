import { afterAll } from 'vitest';

import { openStore } from '../../contract/open-store.js';
import { describeOnMongod, mongodUrl, newDatabase } from '../../mongod/for-tests.js';
import { exchangeActors } from './actors.js';

const store = mongodUrl() === undefined ? undefined : await openStore(newDatabase());

describeOnMongod('actors of exchange guides on MongoDB', () => {
  if (store === undefined) return;
  afterAll(() => store.close());
  exchangeActors(store);
});
