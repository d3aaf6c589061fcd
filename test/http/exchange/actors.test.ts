import { afterAll } from 'vitest';

import { openStore } from '../../contract/open-store.js';
import { exchangeActors } from './actors.js';

const store = await openStore('sqlite::memory:');
afterAll(() => store.close());
exchangeActors(store);
