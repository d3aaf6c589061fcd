import { afterAll, describe } from 'vitest';

import { openStore } from '../../contract/open-store.js';
import { describeOnMongod, mongodUrl, newDatabase } from '../../mongod/for-tests.js';
import { batches } from './batch.js';
import { transactions } from './transaction.js';
import { transactionPatches } from './transaction-patches.js';
import { transactionPlaceholders } from './transaction-placeholders.js';
import { transactionReferences } from './transaction-references.js';
import { transactionsOfTwo } from './transactions-of-two.js';

const url = mongodUrl() === undefined ? undefined : newDatabase();
const stores = url === undefined ? undefined : ([await openStore(url), await openStore(url)] as const);

describeOnMongod('Bundles on MongoDB', () => {
  if (stores === undefined) return;
  afterAll(async () => {
    for (const store of stores) await store.close();
  });
  transactions(stores[0]);
  transactionPatches(stores[0]);
  transactionPlaceholders(stores[0]);
  transactionReferences(stores[0]);
  batches(stores[0]);
  describe('transactions of two servers', () => transactionsOfTwo(...stores));
});
