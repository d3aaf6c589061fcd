import { afterAll, describe } from 'vitest';

import { openStore } from '../contract/open-store.js';
import { transactions } from './transaction.js';

describe.each(['toy:', 'sqlite::memory:'])('transaction on %s', async (url) => {
  const store = await openStore(url);
  afterAll(() => store.close());
  transactions(store);
});
