import { test } from 'vitest';

import { tryRoundTrips } from '../../conformance/patch/patch-trials.js';
import { seedOfRun } from '../../contract/random.js';
import { soak } from '../soak.js';

test.each([0, 1, 2, 3, 4])('a difference of two versions, applied to one, gives the other (part %i)', async (part) => {
  await tryRoundTrips(soak(2000), seedOfRun() + part);
});
