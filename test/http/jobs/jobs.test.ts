import { afterAll, describe } from 'vitest';

import { openStore } from '../../contract/open-store.js';
import { SUITES } from './suites.js';

for (const [name, suite] of Object.entries(SUITES)) {
  const store = await openStore('sqlite::memory:');
  describe(`${name} on SQLite`, () => {
    suite(store);
    afterAll(() => store.close());
  });
}
