import { join } from 'node:path';
import { describe } from 'vitest';

import { referenceRaces } from './reference-races.js';

describe('deletions and references of two processes on SQLite', () =>
  referenceRaces((folder) => `sqlite:${join(folder, 'kiln.db')}`));
