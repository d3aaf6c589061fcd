import { describe } from 'vitest';

import { seedOfRun } from '../../../contract/random.js';
import { leaksNothing } from './leaks.js';

/** 160 requests to each of two servers; `test:long` has thousands, on MongoDB too. */
describe('on SQLite', () => leaksNothing({ url: () => 'sqlite::memory:' }, seedOfRun(), 20));
