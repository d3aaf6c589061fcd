import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe } from 'vitest';

import { itIsRestored } from './backup-drill.js';

describe('on SQLite', () => {
  const folder = mkdtempSync(join(tmpdir(), 'kiln-drilled-'));
  afterAll(() => rmSync(folder, { recursive: true }));

  itIsRestored(() =>
    Promise.resolve({
      store: `sqlite:${join(folder, 'kiln.db')}`,
      empty: `sqlite:${join(folder, 'restored.db')}`,
      servers: 1,
    }),
  );
});
