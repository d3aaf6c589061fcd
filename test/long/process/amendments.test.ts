import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe } from 'vitest';

import { amendments } from './amendments.js';

describe('labels changed in place beside writes, on a SQLite file', () => {
  const folder = mkdtempSync(join(tmpdir(), 'kiln-amendments-'));
  afterAll(() => rmSync(folder, { recursive: true }));
  amendments(() => `sqlite:${join(folder, 'kiln.db')}`);
});
