import { afterAll } from 'vitest';

import { openStore } from '../../contract/open-store.js';
import { generatingMetadata } from './generate.js';

const store = await openStore('sqlite::memory:');
afterAll(() => store.close());
generatingMetadata(store);
