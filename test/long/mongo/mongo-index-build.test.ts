import { MongoClient } from 'mongodb';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';

import { openMongoStore } from '../../../runtime/store/mongo/mongo-store.js';
import { describeOnMongod, newDatabase } from '../../mongod/for-tests.js';

/** What the driver waits for an answer where all else may take a second, and somewhat more; in milliseconds. */
const LONG = 7500;

describeOnMongod('the first start on a large database of an older version', () => {
  it('gave up while the server still made the new index', { timeout: 60_000 }, async () => {
    const url = newDatabase();
    const options = { queryBudget: 1000, operationTime: 1000 };
    await (await openMongoStore(url)).close();
    const client = new MongoClient(url);
    try {
      const resource = client.db().collection('resource');
      await resource.dropIndex('words');
      // An index waits for whoever writes, as it takes its time with many documents.
      const session = client.startSession();
      session.startTransaction();
      await resource.insertOne({ type: 'x' }, { session });
      const begun = performance.now();
      const opening = openMongoStore(url, options);
      await Promise.race([opening, sleep(LONG)]);
      expect(performance.now() - begun).toBeGreaterThan(LONG - 500);
      await session.abortTransaction();
      await session.endSession();
      await (await opening).close();
      expect((await resource.listIndexes().toArray()).map(({ name }) => String(name))).toContain('words');
    } finally {
      await client.close();
    }
  });
});
