import { afterAll, describe } from 'vitest';

import { openStore } from '../contract/open-store.js';
import { describeOnMongod, mongodUrl, newDatabase } from '../mongod/for-tests.js';
import { wholeWrites } from './subsetted.js';

const sqlite = await openStore('sqlite::memory:');
const mongo = mongodUrl() === undefined ? undefined : await openStore(newDatabase());
afterAll(async () => {
  await sqlite.close();
  await mongo?.close();
});

describe('whole writes on SQLite', () => wholeWrites(sqlite));
describeOnMongod('whole writes on MongoDB', () => {
  if (mongo !== undefined) wholeWrites(mongo);
});
