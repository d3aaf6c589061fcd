import { afterAll, describe } from 'vitest';

import { openStore } from '../../contract/open-store.js';
import { whatClientsRead } from './what-clients-read.js';

describe('what other clients send and read, on SQLite', async () => {
  const store = await openStore('sqlite::memory:');
  afterAll(() => store.close());
  whatClientsRead(store);
});
