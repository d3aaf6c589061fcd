import { afterAll, describe } from 'vitest';

import { openStore } from '../../contract/open-store.js';
import { reportedKinds } from './kinds.js';
import { reportedMessages } from './messages.js';
import { reportedValues } from './values.js';
import { versionSpecificReferences } from './version-specific.js';

const sqlite = await openStore('sqlite::memory:');
afterAll(() => sqlite.close());

describe('reported kinds of fault on SQLite', () => {
  reportedKinds(sqlite);
  reportedMessages(sqlite);
  reportedValues(sqlite);
  versionSpecificReferences(sqlite);
});
