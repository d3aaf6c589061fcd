import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';

import { describeOnMongod, newDatabase } from '../../mongod/for-tests.js';
import { killPackages } from './kill-packages.js';

describeOnMongod('packages in a MongoDB store', () => {
  const folder = mkdtempSync(join(tmpdir(), 'kiln-kill-packages-'));
  afterAll(() => rmSync(folder, { recursive: true }));
  killPackages(newDatabase(), folder);
});
