import { afterAll } from 'vitest';

import { openStore } from '../../contract/open-store.js';
import { seedOfRun } from '../../contract/random.js';
import { describeOnMongod, mongodUrl, newDatabase } from '../../mongod/for-tests.js';
import { viewsAgainstSearches } from './views.js';

const store = mongodUrl() === undefined ? undefined : await openStore(newDatabase());
afterAll(() => store?.close());
describeOnMongod('on MongoDB', () => {
  if (store !== undefined) viewsAgainstSearches(store, seedOfRun(), 2000);
});
