import { afterAll, describe } from 'vitest';

import { openStore } from '../../contract/open-store.js';
import { referenceIntegrity } from './integrity.js';

const store = await openStore('sqlite::memory:');

describe('references that have to lead somewhere, on SQLite', () => {
  afterAll(() => store.close());
  referenceIntegrity(store);
});
