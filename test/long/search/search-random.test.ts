import { join } from 'node:path';
import { describe, it } from 'vitest';

import { sharedStore } from '../../contract/search/behaviour-search-helpers.js';
import { randomQueries } from '../../contract/search/behaviour-search-random.js';
import { onMongo } from '../../contract/on-mongo.js';
import { seedOfRun } from '../../contract/random.js';
import type { Subject } from '../../contract/subject.js';
import { describeOnMongod } from '../../mongod/for-tests.js';
import { soak } from '../soak.js';

/** 2,500 queries on each store, over five sets of resources; `search-oracle.test.ts` has 5,000 more. */
function searches(on: Subject): void {
  const subject = sharedStore(on);

  it.each(Array.from({ length: 5 }, (_, n) => n))('random queries find what matches says (%i)', async (n) => {
    await randomQueries(subject.store, `Random${n}`, seedOfRun() + n, soak(120));
  });
}

describe('on SQLite', () => {
  searches({ name: 'SQLite', url: (place) => `sqlite:${join(place, 'kiln.db')}`, isShared: true });
});
describeOnMongod('on MongoDB', () => searches(onMongo));
