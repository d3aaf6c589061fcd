import { afterAll } from 'vitest';

import { openStore } from '../../contract/open-store.js';
import { describeOnMongod, mongodUrl, newDatabase } from '../../mongod/for-tests.js';
import { generatingMetadata } from './generate.js';

const store = mongodUrl() === undefined ? undefined : await openStore(newDatabase());

describeOnMongod('metadata of documents on MongoDB', () => {
  if (store === undefined) return;
  afterAll(() => store.close());
  generatingMetadata(store);
});
