import { MongoClient } from 'mongodb';
import { expect, it, vi } from 'vitest';

import { APP_NAME } from '../../../runtime/store/mongo/write/stale-transactions.js';
import { onMongo } from '../../contract/on-mongo.js';
import { put, useStore } from '../../contract/subject.js';
import { EVENTUALLY } from '../../eventually.js';
import { describeOnMongod } from '../../mongod/for-tests.js';

describeOnMongod('a process that died while it numbered the log', () => {
  const subject = useStore(onMongo);

  // The server keeps what the transaction locked for a minute: longer than is waited for here.
  it('holds up neither the log nor what swaps several entries of maps', async () => {
    const { store } = subject;
    const from = await store.log.end();
    await store.maps.swap('m', 'k', undefined, '1');
    const dead = new MongoClient(subject.url, { appName: APP_NAME });
    const session = dead.startSession();
    session.startTransaction();
    const locked = await dead
      .db()
      .collection('log')
      .updateOne({}, { $set: { holder: 'dead' } }, { session });
    const entry = await dead
      .db()
      .collection('map')
      .updateOne({}, { $set: { value: '2' } }, { session });
    expect([locked.matchedCount, entry.matchedCount]).toEqual([1, 1]);
    await store.write([put('a', 0)]);
    const swapped = store.maps.swapAll([{ map: 'm', key: 'k', expected: '1', value: '3' }]);
    await vi.waitFor(async () => expect((await store.log.read(from, 10))?.length).toBe(1), EVENTUALLY);
    expect(await swapped).toBe(true);
    await expect(session.commitTransaction()).rejects.toThrow(/aborted/);
    await dead.close();
  });
});
