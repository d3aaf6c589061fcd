import { afterAll, describe } from 'vitest';

import { openStore } from '../contract/open-store.js';
import { operations } from './operations.js';

const sqlite = await openStore('sqlite::memory:');
afterAll(() => sqlite.close());

describe('operations on SQLite', () => operations(sqlite));
