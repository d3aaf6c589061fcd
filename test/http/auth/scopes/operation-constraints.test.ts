import { afterAll, describe } from 'vitest';

import { openStore } from '../../../contract/open-store.js';
import { operationConstraints } from './operation-constraints.js';

const open = () => openStore('sqlite::memory:');
const stores = [await open(), await open(), await open()] as const;

describe('operations with a constrained token on SQLite', () => {
  afterAll(() => Promise.all(stores.map((store) => store.close())));
  operationConstraints(stores);
});
