import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe } from 'vitest';

import { killPackages } from './kill-packages.js';

describe('packages in a SQLite store', () => {
  const folder = mkdtempSync(join(tmpdir(), 'kiln-kill-packages-'));
  afterAll(() => rmSync(folder, { recursive: true }));
  killPackages(`sqlite:${join(folder, 'kiln.db')}`, folder);
});
