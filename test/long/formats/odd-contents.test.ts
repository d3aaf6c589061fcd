import { afterAll, describe } from 'vitest';

import { openStore } from '../../contract/open-store.js';
import { seedOfRun } from '../../contract/random.js';
import { tryOddContents } from '../../http/operations/odd-contents.js';
import { soak } from '../soak.js';

const store = await openStore('sqlite::memory:');

describe('stored resources that are not as their types have them', () => {
  tryOddContents(store, soak(30), seedOfRun());
  afterAll(() => store.close());
});
