import { join } from 'node:path';
import { describe, it } from 'vitest';

import { sharedStore } from '../contract/behaviour-search-helpers.js';
import { randomQueries } from '../contract/behaviour-search-random.js';
import { onMongo } from '../contract/on-mongo.js';
import { seedOfRun } from '../contract/random.js';
import type { Subject } from '../contract/subject.js';
import { describeOnMongod } from '../mongod/for-tests.js';

/** 5,000 queries on each store, over ten sets of resources. */
function searches(on: Subject): void {
  const subject = sharedStore(on);

  it.each(Array.from({ length: 10 }, (_, n) => n))('random queries find what matches says (%i)', async (n) => {
    await randomQueries(subject.store, `Random${n}`, seedOfRun() + n, 500);
  });
}

describe('on SQLite', () => {
  searches({ name: 'SQLite', url: (place) => `sqlite:${join(place, 'kiln.db')}`, isShared: true });
});
describeOnMongod('on MongoDB', () => searches(onMongo));
