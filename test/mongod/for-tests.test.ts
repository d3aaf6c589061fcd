import { MongoClient } from 'mongodb';
import { expect, it } from 'vitest';

import { describeOnMongod, mongodUrl, newDatabase } from './for-tests.js';

describeOnMongod('the MongoDB for tests', () => {
  it('is a replica set with a primary that takes writes in transactions', async () => {
    const client = new MongoClient(newDatabase());
    try {
      const notes = client.db().collection('notes');
      await client.withSession((session) =>
        session.withTransaction(async () => {
          await notes.insertMany([{ a: 1 }, { a: 2 }], { session });
        }),
      );
      expect(await notes.countDocuments()).toBe(2);
      expect((await client.db().admin().command({ hello: 1 }))['setName']).toBeDefined();
    } finally {
      await client.close();
    }
  });

  it('gives every asker a database of its own, on the same server', () => {
    const [, , host, ...one] = newDatabase().split('/');
    const [, , sameHost, ...other] = newDatabase().split('/');
    expect(mongodUrl()?.split('/')[2]).toBe(host);
    expect(sameHost).toBe(host);
    expect(one).not.toEqual(other);
  });
});
