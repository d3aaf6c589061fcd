import { MongoClient } from 'mongodb';

import { newDatabase } from '../mongod/for-tests.js';
import type { Subject } from './subject.js';

/** Stores in databases of their own. */
export const onMongo: Subject = {
  name: 'MongoDB',
  url: () => newDatabase(),
  isShared: true,
  async drop(url) {
    const client = new MongoClient(url);
    await client.db().dropDatabase();
    await client.close();
  },
};
