import { afterAll, describe } from 'vitest';

import { openStore } from '../../contract/open-store.js';
import { listedParameters } from './parameters.js';

const store = await openStore('sqlite::memory:');

describe('what URLs take beside criteria is listed, on SQLite', () => {
  listedParameters(store);
  afterAll(() => store.close());
});
