import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { loadsSynthea } from './synthea.js';

loadsSynthea(() => `sqlite:${join(mkdtempSync(join(tmpdir(), 'kiln-synthea-')), 'kiln.db')}`);
