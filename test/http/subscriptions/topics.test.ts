import { afterAll, describe } from 'vitest';

import { openStore } from '../../contract/open-store.js';
import { topics } from './topics.js';

const store = await openStore('sqlite::memory:');

describe('writes of topics', () => {
  afterAll(() => store.close());
  topics(store);
});
