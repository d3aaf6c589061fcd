import { afterAll, describe } from 'vitest';

import { openStore } from '../../contract/open-store.js';
import { editPlainly } from './plain-edit.js';

const store = await openStore('sqlite::memory:');
afterAll(() => store.close());

describe('editing without a script on SQLite', () => editPlainly(store));
