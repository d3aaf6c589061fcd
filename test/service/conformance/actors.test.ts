import { join } from 'node:path';
import { describe } from 'vitest';

import { actorsConform } from './actors.js';

describe('actors on SQLite', () => actorsConform((folder) => `sqlite:${join(folder, 'kiln.db')}`));
