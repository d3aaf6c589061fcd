import { afterAll } from 'vitest';

import { openStore } from '../../contract/open-store.js';
import { providing } from './provide.js';

const store = await openStore('sqlite::memory:');
afterAll(() => store.close());
providing(store);
