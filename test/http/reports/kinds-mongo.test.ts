import { afterAll } from 'vitest';

import { openStore } from '../../contract/open-store.js';
import { describeOnMongod, mongodUrl, newDatabase } from '../../mongod/for-tests.js';
import { reportedKinds } from './kinds.js';
import { reportedMessages } from './messages.js';
import { reportedValues } from './values.js';
import { versionSpecificReferences } from './version-specific.js';

const store = mongodUrl() === undefined ? undefined : await openStore(newDatabase());

describeOnMongod('reported kinds of fault on MongoDB', () => {
  if (store === undefined) return;
  afterAll(() => store.close());
  reportedKinds(store);
  reportedMessages(store);
  reportedValues(store);
  versionSpecificReferences(store);
});
