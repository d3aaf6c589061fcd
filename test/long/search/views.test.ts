import { afterAll } from 'vitest';

import { openStore } from '../../contract/open-store.js';
import { seedOfRun } from '../../contract/random.js';
import { narrowedAgainstWhole } from './narrowing.js';
import { viewsAgainstSearches } from './views.js';

const store = await openStore('sqlite::memory:');
afterAll(() => store.close());
viewsAgainstSearches(store, seedOfRun(), 2000);

const odd = await openStore('sqlite::memory:');
afterAll(() => odd.close());
narrowedAgainstWhole(odd, seedOfRun(), 1500);
