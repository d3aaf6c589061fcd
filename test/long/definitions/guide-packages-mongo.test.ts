import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';

import { describeOnMongod, newDatabase } from '../../mongod/for-tests.js';
import { guidePackages } from './guide-packages.js';

describeOnMongod('guides with what they need, in a MongoDB store', () => {
  const folder = mkdtempSync(join(tmpdir(), 'kiln-guides-'));
  afterAll(() => rmSync(folder, { recursive: true }));
  guidePackages(newDatabase(), folder);
});
