import { afterAll, describe } from 'vitest';

import { openStore } from '../../contract/open-store.js';
import { reportedKinds } from './kinds.js';

const sqlite = await openStore('sqlite::memory:');
afterAll(() => sqlite.close());

describe('reported kinds of fault on SQLite', () => reportedKinds(sqlite));
