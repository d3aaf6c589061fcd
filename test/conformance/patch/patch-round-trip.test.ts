import { test } from 'vitest';

import { seedOfRun } from '../../contract/random.js';
import { tryRoundTrips } from './patch-trials.js';

test('fhirpatch.html: the difference of two versions, applied to one, gives the other', async () => {
  await tryRoundTrips(300, seedOfRun());
}, 60_000);
