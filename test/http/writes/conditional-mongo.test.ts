import { afterAll } from 'vitest';

import { openStore } from '../../contract/open-store.js';
import { describeOnMongod, mongodUrl, newDatabase } from '../../mongod/for-tests.js';
import { conditionalWrites } from './conditional.js';

const store = mongodUrl() === undefined ? undefined : await openStore(newDatabase());

describeOnMongod('conditional writes on MongoDB', () => {
  if (store === undefined) return;
  afterAll(() => store.close());
  conditionalWrites(store);
});
