import { describe } from 'vitest';

import { onEmptiedMongo } from '../../contract/on-mongo.js';
import { seedOfRun } from '../../contract/random.js';
import { leaksNothing } from '../../http/auth/leaks/leaks.js';
import { describeOnMongod } from '../../mongod/for-tests.js';
import { soak } from '../soak.js';

/** Requests for each set of resources and each client. */
const SQLITE = soak(60);
const MONGO = soak(40);

/** Sets of resources that questions are asked about. */
const ROUNDS = [0, 1];
const seed = seedOfRun();

describe.each(ROUNDS)('SQLite (%i)', (round) => {
  leaksNothing({ url: () => 'sqlite::memory:' }, seed + round, SQLITE);
});

describeOnMongod('MongoDB', () => {
  describe.each(ROUNDS)('(%i)', (round) => {
    leaksNothing(onEmptiedMongo, seed + round, MONGO);
  });
});
