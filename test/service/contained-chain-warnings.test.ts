import { describe } from 'vitest';

import { containedChainWarnings } from './contained-chain-warnings.js';

describe('chains by stored search parameters, SQLite', () => containedChainWarnings('sqlite::memory:'));
