import { afterAll, describe } from 'vitest';

import { openStore } from '../../contract/open-store.js';
import { describeOnMongod, mongodUrl, newDatabase } from '../../mongod/for-tests.js';
import { SUITES } from './suites.js';

const stores = new Map<string, Awaited<ReturnType<typeof openStore>>>();
if (mongodUrl() !== undefined) {
  for (const name of Object.keys(SUITES)) stores.set(name, await openStore(newDatabase()));
}

describeOnMongod('jobs on MongoDB', () => {
  for (const [name, store] of stores) {
    describe(name, () => {
      SUITES[name]?.(store);
      afterAll(() => store.close());
    });
  }
});
