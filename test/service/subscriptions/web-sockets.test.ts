import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe } from 'vitest';

import { webSockets } from './web-sockets.js';

describe('web sockets on SQLite', { timeout: 60_000 }, () => {
  webSockets(() => {
    const folder = mkdtempSync(join(tmpdir(), 'kiln-web-sockets-'));
    return { store: `sqlite:${join(folder, 'kiln.db')}`, folder };
  });
});
