import { join } from 'node:path';
import { describe } from 'vitest';

import { exchangeFlows } from './exchange-flows.js';

describe('flows of the exchange on SQLite', () => exchangeFlows((folder) => `sqlite:${join(folder, 'kiln.db')}`));
