import { afterAll, describe } from 'vitest';

import { randomSelections } from '../../conformance/formats/graphql-random.js';
import { openStore } from '../../contract/open-store.js';
import { seedOfRun } from '../../contract/random.js';
import { soak } from '../soak.js';

const store = await openStore('sqlite::memory:');
describe('$graphql, against JSON and the FHIRPath library', () => {
  randomSelections(store, seedOfRun(), soak(2000));
  afterAll(() => store.close());
});
