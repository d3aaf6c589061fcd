import { afterAll } from 'vitest';

import { openStore } from '../../contract/open-store.js';
import { describeOnMongod, mongodUrl, newDatabase } from '../../mongod/for-tests.js';
import { listedParameters } from './parameters.js';

const store = mongodUrl() === undefined ? undefined : await openStore(newDatabase());

describeOnMongod('what URLs take beside criteria is listed, on MongoDB', () => {
  if (store === undefined) return;
  listedParameters(store);
  afterAll(() => store.close());
});
