import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe } from 'vitest';

import { openStore } from '../../contract/open-store.js';
import { batches } from './batch.js';
import { transactions } from './transaction.js';
import { transactionPatches } from './transaction-patches.js';
import { transactionPlaceholders } from './transaction-placeholders.js';
import { transactionReferences } from './transaction-references.js';
import { transactionsOfTwo } from './transactions-of-two.js';

describe.each(['toy:', 'sqlite::memory:'])('Bundles on %s', async (url) => {
  const store = await openStore(url);
  afterAll(() => store.close());
  transactions(store);
  transactionPatches(store);
  transactionPlaceholders(store);
  transactionReferences(store);
  batches(store);
});

describe('transactions of two servers on one SQLite file', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'kiln-two-'));
  const url = `sqlite:${join(folder, 'kiln.db')}`;
  const stores = [await openStore(url), await openStore(url)] as const;
  afterAll(async () => {
    for (const store of stores) await store.close();
    rmSync(folder, { recursive: true });
  });
  transactionsOfTwo(...stores);
});
