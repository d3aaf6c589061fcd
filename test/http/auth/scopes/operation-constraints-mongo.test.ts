import { afterAll } from 'vitest';

import { openStore } from '../../../contract/open-store.js';
import { describeOnMongod, mongodUrl, newDatabase } from '../../../mongod/for-tests.js';
import { operationConstraints } from './operation-constraints.js';

const open = () => openStore(newDatabase());
const stores = mongodUrl() === undefined ? undefined : ([await open(), await open(), await open()] as const);

describeOnMongod('operations with a constrained token on MongoDB', () => {
  if (stores === undefined) return;
  afterAll(() => Promise.all(stores.map((store) => store.close())));
  operationConstraints(stores);
});
