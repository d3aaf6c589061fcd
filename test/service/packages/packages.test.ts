import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe } from 'vitest';

import { packages } from './packages.js';

describe('packages in a SQLite store', () => {
  const folder = mkdtempSync(join(tmpdir(), 'kiln-packages-'));
  afterAll(() => rmSync(folder, { recursive: true }));
  packages(`sqlite:${join(folder, 'kiln.db')}`, folder);
});
