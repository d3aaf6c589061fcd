import { describe } from 'vitest';

import { waysOfFinding } from '../../unit/store/sqlite/sqlite-find-ways.js';

describe('searches', () => waysOfFinding(150));
