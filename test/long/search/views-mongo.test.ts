import { afterAll } from 'vitest';

import { openStore } from '../../contract/open-store.js';
import { seedOfRun } from '../../contract/random.js';
import { describeOnMongod, mongodUrl, newDatabase } from '../../mongod/for-tests.js';
import { narrowedAgainstWhole } from './narrowing.js';
import { viewsAgainstSearches } from './views.js';

const [store, odd] = mongodUrl() === undefined ? [] : [await openStore(newDatabase()), await openStore(newDatabase())];
afterAll(() => Promise.all([store?.close(), odd?.close()]));
describeOnMongod('on MongoDB', () => {
  if (store !== undefined) viewsAgainstSearches(store, seedOfRun(), 2000);
  if (odd !== undefined) narrowedAgainstWhole(odd, seedOfRun(), 1500);
});
