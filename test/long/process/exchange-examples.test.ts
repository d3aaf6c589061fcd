import { join } from 'node:path';
import { describe } from 'vitest';

import { exchangeExamples } from './exchange-examples.js';

describe('examples of the exchange on SQLite', () => exchangeExamples((folder) => `sqlite:${join(folder, 'kiln.db')}`));
