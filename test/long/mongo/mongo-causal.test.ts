import { MongoClient } from 'mongodb';
import { afterAll, beforeAll, expect, it } from 'vitest';

import { openCausal } from '../../../runtime/store/mongo/read/causal.js';
import { openStaleTransactions } from '../../../runtime/store/mongo/write/stale-transactions.js';
import { isTimeUp } from '../../../runtime/store/mongo/mongo-errors.js';
import { findMongod } from '../../mongod/find-mongod.js';
import { describeOnMongod } from '../../mongod/for-tests.js';
import { startReplicaSet, type ReplicaSet } from '../../mongod/replica-set.js';

describeOnMongod('a primary that does not know yet what a majority has', () => {
  let set: ReplicaSet;
  let client: MongoClient;
  beforeAll(async () => {
    set = await startReplicaSet((await findMongod()).path, 3);
    client = new MongoClient(set.url, { readConcern: { level: 'majority' } });
  });
  afterAll(async () => {
    await client?.close();
    await set?.stop();
  });

  // As after a change of the primary: it has the write, and does not show it to those who ask for what a majority has.
  it('is waited for by reads of who wrote, in bounded time, until it knows', async () => {
    const things = client.db('kiln').collection<{ _id: string }>('thing');
    await things.insertOne({ _id: 'before' }, { writeConcern: { w: 3 } });
    const causal = openCausal(client, openStaleTransactions(client, client.db('kiln')));
    const primary = await set.primary();
    const others = set.members.filter((member) => member !== primary);
    for (const member of others) member.pause();
    try {
      await causal.write((session) => things.insertOne({ _id: 'x' }, { session, writeConcern: { w: 1 } }));
      expect(await things.findOne({ _id: 'x' })).toBeNull();
      const early = causal.read((session) => things.findOne({ _id: 'x' }, { session, maxTimeMS: 200 }));
      await expect(early).rejects.toSatisfy(isTimeUp);
    } finally {
      for (const member of others) member.resume();
    }
    const late = causal.read((session) => things.findOne({ _id: 'x' }, { session, maxTimeMS: 10_000 }));
    expect(await late).toEqual({ _id: 'x' });
  });
});
