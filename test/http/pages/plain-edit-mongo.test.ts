import { afterAll } from 'vitest';

import { openStore } from '../../contract/open-store.js';
import { describeOnMongod, mongodUrl, newDatabase } from '../../mongod/for-tests.js';
import { editPlainly } from './plain-edit.js';

const store = mongodUrl() === undefined ? undefined : await openStore(newDatabase());

describeOnMongod('editing without a script on MongoDB', () => {
  if (store === undefined) return;
  afterAll(() => store.close());
  editPlainly(store);
});
