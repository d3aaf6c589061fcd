import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe } from 'vitest';

import { deliveries } from './deliveries.js';

describe('deliveries on SQLite', { timeout: 60_000 }, () => {
  deliveries(() => {
    const folder = mkdtempSync(join(tmpdir(), 'kiln-subscriptions-'));
    return { store: `sqlite:${join(folder, 'kiln.db')}`, folder };
  });
});
