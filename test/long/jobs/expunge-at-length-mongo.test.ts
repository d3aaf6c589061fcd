import { MongoClient } from 'mongodb';
import { expect, it } from 'vitest';

import { openStore } from '../../contract/open-store.js';
import { describeOnMongod, newDatabase } from '../../mongod/for-tests.js';
import { expungeAtLength, expungeTitle } from './expunge-load.js';
import { soak } from '../soak.js';

/** Resources that will go. */
const DOOMED = soak(700);

/** Marks of the store, as when something was removed last: one document each, however often. */
const STAYS = new Set(['setting']);

describeOnMongod('on MongoDB', () => {
  it(expungeTitle(DOOMED), async () => {
    const url = newDatabase();
    const store = await openStore(url);
    const client = new MongoClient(url);
    try {
      await expungeAtLength(store, DOOMED, () => documentsOf(client));
    } finally {
      await client.close();
      await store.close();
    }
  });
});

/** The number of documents of each collection, and that each index has as many entries as a full look finds documents. */
async function documentsOf(client: MongoClient): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const { name } of await client.db().listCollections({}, { nameOnly: true }).toArray()) {
    if (STAYS.has(name) || name.startsWith('system.')) continue;
    counts[name] = await client.db().collection(name).countDocuments();
    const { valid } = await client.db().command({ validate: name });
    expect(valid, name).toBe(true);
  }
  return counts;
}
