import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe } from 'vitest';

import { unindexedResources } from './stored-parameters-unindexed.js';

describe('expressions that fail on resources of a SQLite store', () => {
  const folder = mkdtempSync(join(tmpdir(), 'kiln-parameters-'));
  afterAll(() => rmSync(folder, { recursive: true }));
  unindexedResources(`sqlite:${join(folder, 'kiln.db')}`);
});
