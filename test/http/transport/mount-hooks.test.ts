import { describe } from 'vitest';

import { mountHooks } from './mount-hooks.js';

describe('hooks of Kiln in an application, on SQLite', () => mountHooks('sqlite::memory:'));
