import { describe } from 'vitest';

import { waysOfFinding } from './sqlite-find-ways.js';

// test/long/sqlite-find.test.ts asks more.
describe('searches', () => waysOfFinding(75));
