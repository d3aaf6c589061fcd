import { describe } from 'vitest';

import { openStore } from '../../../contract/open-store.js';
import { seedOfRun } from '../../../contract/random.js';
import { POLICIES } from './leak-twins.js';
import { leaksNothing } from './leaks.js';

/** 140 requests to each of two servers; `test:long` has thousands, on MongoDB too. */
describe.each(POLICIES)('what $name does not show, on SQLite', (policy) => {
  leaksNothing(policy, () => openStore('sqlite::memory:'), seedOfRun(), 20);
});
