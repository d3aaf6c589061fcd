import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe } from 'vitest';

import { killedDeliveries } from './subscriptions-killed.js';

describe('deliveries of a server that is killed, on SQLite', () => {
  killedDeliveries(
    () => ({ store: `sqlite:${join(mkdtempSync(join(tmpdir(), 'kiln-killed-')), 'kiln.db')}`, servers: 5 }),
    1,
  );
});
