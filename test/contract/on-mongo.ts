import { MongoClient, type Db } from 'mongodb';

import { newDatabase } from '../mongod/for-tests.js';
import type { Subject } from './subject.js';

/** Stores in databases of their own. */
export const onMongo: Subject = {
  name: 'MongoDB',
  url: () => newDatabase(),
  isShared: true,
  drop: (url) => withClient(url, async (client) => void (await client.db().dropDatabase())),
};

/** More resources than this are dropped with their database: for five minutes searches have to step over what was deleted. */
const FEW = 200;

const emptied: string[] = [];

/**
 * Stores in databases of which some were emptied after another test: most of a test's time would go into the forty indexes of a
 * new one, and into dropping them. For tests that see their database through a store alone.
 */
export const onEmptiedMongo: Subject = {
  ...onMongo,
  url: () => emptied.pop() ?? newDatabase(),
  drop: (url) =>
    withClient(url, async (client) => {
      const db = client.db();
      if ((await db.collection('resource').estimatedDocumentCount()) > FEW) {
        await db.dropDatabase();
        return;
      }
      await empty(db);
      emptied.push(url);
    }),
};

/** Deletes all that a store puts into its database, but the mark that this is one of ours. */
async function empty(db: Db): Promise<void> {
  const collections = await db.collections();
  await Promise.all(collections.map((each) => each.deleteMany(each.collectionName === 'setting' ? NOT_THE_MARK : {})));
}

/** See `prepare`. */
const NOT_THE_MARK = { _id: { $ne: 'schema' as never } };

async function withClient(url: string, work: (client: MongoClient) => Promise<void>): Promise<void> {
  const client = new MongoClient(url);
  try {
    await work(client);
  } finally {
    await client.close();
  }
}
