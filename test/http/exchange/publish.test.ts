import { afterAll } from 'vitest';

import { openStore } from '../../contract/open-store.js';
import { publishing } from './publish.js';

const store = await openStore('sqlite::memory:');
afterAll(() => store.close());
publishing(store);
