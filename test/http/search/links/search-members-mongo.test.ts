import { afterAll, describe } from 'vitest';

import { openStore } from '../../../contract/open-store.js';
import { describeOnMongod, mongodUrl, newDatabase } from '../../../mongod/for-tests.js';
import { memberSearches } from './search-members.js';
import { randomMemberSearches } from './search-members-random.js';

const isThere = mongodUrl() !== undefined;
const store = isThere ? await openStore(newDatabase()) : undefined;
const another = isThere ? await openStore(newDatabase()) : undefined;

describeOnMongod('membership on MongoDB', () => {
  if (store === undefined || another === undefined) return;
  afterAll(() => Promise.all([store.close(), another.close()]));
  memberSearches(store);
  describe('at random', () => randomMemberSearches(another, 200));
});
