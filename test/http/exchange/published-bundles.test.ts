import { afterAll } from 'vitest';

import { openStore } from '../../contract/open-store.js';
import { publishedBundles } from './published-bundles.js';

const store = await openStore('sqlite::memory:');
afterAll(() => store.close());
publishedBundles(store);
