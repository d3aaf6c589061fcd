import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { spans } from './spans.js';

spans(() => `sqlite:${join(mkdtempSync(join(tmpdir(), 'kiln-spans-')), 'kiln.db')}`, false);
