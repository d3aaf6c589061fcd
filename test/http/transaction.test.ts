import { afterAll, describe } from 'vitest';

import { openStore } from '../contract/open-store.js';
import { batches } from './batch.js';
import { transactions } from './transaction.js';

describe.each(['toy:', 'sqlite::memory:'])('Bundles on %s', async (url) => {
  const store = await openStore(url);
  afterAll(() => store.close());
  transactions(store);
  batches(store);
});
