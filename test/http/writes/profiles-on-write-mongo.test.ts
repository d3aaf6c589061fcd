import { afterAll } from 'vitest';

import { openStore } from '../../contract/open-store.js';
import { describeOnMongod, mongodUrl, newDatabase } from '../../mongod/for-tests.js';
import { profilesOnWrite } from './profiles-on-write.js';

const store = mongodUrl() === undefined ? undefined : await openStore(newDatabase());

describeOnMongod('profiles on write on MongoDB', () => {
  if (store === undefined) return;
  afterAll(() => store.close());
  profilesOnWrite(store);
});
