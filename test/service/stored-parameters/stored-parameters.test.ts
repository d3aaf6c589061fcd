import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe } from 'vitest';

import { storedParameters } from './stored-parameters.js';

describe('search parameters of a SQLite store', () => {
  const folder = mkdtempSync(join(tmpdir(), 'kiln-parameters-'));
  afterAll(() => rmSync(folder, { recursive: true }));
  storedParameters(`sqlite:${join(folder, 'kiln.db')}`);
});
