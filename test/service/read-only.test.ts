import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';

import { itIsReadOnly } from './read-only.js';

const folder = mkdtempSync(join(tmpdir(), 'kiln-read-only-'));
afterAll(() => rmSync(folder, { recursive: true }));

itIsReadOnly(() => `sqlite:${join(folder, 'kiln.db')}`);
