import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe } from 'vitest';

import { killedPublications } from './publications-killed.js';

describe('publications to a server that is killed, on SQLite', () => {
  killedPublications(() => `sqlite:${join(mkdtempSync(join(tmpdir(), 'kiln-killed-')), 'kiln.db')}`);
});
