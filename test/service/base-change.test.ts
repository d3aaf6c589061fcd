import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe } from 'vitest';

import { baseChange } from './base-change.js';

const folder = mkdtempSync(join(tmpdir(), 'kiln-base-'));
afterAll(() => rmSync(folder, { recursive: true }));
let count = 0;

describe('the base URL of a server on SQLite', () => baseChange(() => `sqlite:${join(folder, `${count++}.db`)}`));
