import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe } from 'vitest';

import { describeOnMongod, newDatabase } from '../mongod/for-tests.js';
import { storedParameters } from './stored-parameters.js';

describe('search parameters of a SQLite store', () => {
  const folder = mkdtempSync(join(tmpdir(), 'kiln-parameters-'));
  afterAll(() => rmSync(folder, { recursive: true }));
  storedParameters(`sqlite:${join(folder, 'kiln.db')}`);
});

describeOnMongod('search parameters of a MongoDB store', () => storedParameters(newDatabase()));
