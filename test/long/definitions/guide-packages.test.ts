import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe } from 'vitest';

import { guidePackages } from './guide-packages.js';

describe('guides with what they need, in a SQLite store', () => {
  const folder = mkdtempSync(join(tmpdir(), 'kiln-guides-'));
  afterAll(() => rmSync(folder, { recursive: true }));
  guidePackages(`sqlite:${join(folder, 'kiln.db')}`, folder);
});
