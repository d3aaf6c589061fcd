import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe } from 'vitest';

import { explainedPlans } from './explained-plans.js';

const folder = mkdtempSync(join(tmpdir(), 'kiln-explained-plans-'));
afterAll(() => rmSync(folder, { recursive: true }));

describe('kiln explain-search of plans, SQLite', () => explainedPlans(`sqlite:${join(folder, 'kiln.db')}`));
