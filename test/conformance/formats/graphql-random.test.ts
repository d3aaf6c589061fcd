import { afterAll, describe } from 'vitest';

import { openStore } from '../../contract/open-store.js';
import { seedOfRun } from '../../contract/random.js';
import { randomSelections } from './graphql-random.js';

/** `test:long` has 2,000, and other ones in each run. */
const store = await openStore('sqlite::memory:');
describe('$graphql, against JSON and the FHIRPath library', () => {
  randomSelections(store, seedOfRun(), 200);
  afterAll(() => store.close());
});
