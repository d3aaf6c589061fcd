import { afterAll } from 'vitest';

import { openStore } from '../../contract/open-store.js';
import { describeOnMongod, mongodUrl, newDatabase } from '../../mongod/for-tests.js';
import { publishing } from './publish.js';

const store = mongodUrl() === undefined ? undefined : await openStore(newDatabase());

describeOnMongod('publications on MongoDB', () => {
  if (store === undefined) return;
  afterAll(() => store.close());
  publishing(store);
});
