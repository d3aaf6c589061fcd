import { afterAll, describe } from 'vitest';

import { openStore } from '../../contract/open-store.js';
import { matrix } from './matrix-suite.js';

const sqlite = await openStore('sqlite::memory:');
afterAll(() => sqlite.close());

describe('scopes and interactions on SQLite', () => matrix(sqlite));
