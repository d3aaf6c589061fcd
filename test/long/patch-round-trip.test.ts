import { test } from 'vitest';

import { tryRoundTrips } from '../conformance/patch-trials.js';
import { seedOfRun } from '../contract/random.js';

test.each([0, 1, 2, 3, 4])('40,000 differences of versions, applied to one, give the other (part %i)', async (part) => {
  await tryRoundTrips(8000, seedOfRun() + part);
});
