import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';

import { describeOnMongod, newDatabase } from '../../mongod/for-tests.js';
import { packages } from './packages.js';

describeOnMongod('packages in a MongoDB store', () => {
  const folder = mkdtempSync(join(tmpdir(), 'kiln-packages-'));
  afterAll(() => rmSync(folder, { recursive: true }));
  packages(newDatabase(), folder);
});
