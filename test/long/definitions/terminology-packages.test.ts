import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe } from 'vitest';

import { terminologyPackages } from './terminology-packages.js';

describe('the terminology and extension packages of HL7, on SQLite', () => {
  const folder = mkdtempSync(join(tmpdir(), 'kiln-packages-'));
  terminologyPackages(`sqlite:${join(folder, 'kiln.db')}`);
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
});
