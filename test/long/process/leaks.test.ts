import { describe } from 'vitest';

import { openStore } from '../../contract/open-store.js';
import { seedOfRun } from '../../contract/random.js';
import { POLICIES } from '../../http/auth/leaks/leak-twins.js';
import { leaksNothing } from '../../http/auth/leaks/leaks.js';
import { describeOnMongod, newDatabase } from '../../mongod/for-tests.js';
import { soak } from '../soak.js';

/** Requests for each set of resources and each client. */
const SQLITE = soak(60);
const MONGO = soak(40);

/** Sets of resources that questions are asked about. */
const ROUNDS = [0, 1];

describe.each(ROUNDS)('SQLite (%i)', (round) => {
  describe.each(POLICIES)('what $name does not show', (policy) => {
    leaksNothing(policy, () => openStore('sqlite::memory:'), seedOfRun() + round, SQLITE);
  });
});

describeOnMongod('MongoDB', () => {
  describe.each(ROUNDS)('(%i)', (round) => {
    describe.each(POLICIES)('what $name does not show', (policy) => {
      leaksNothing(policy, () => openStore(newDatabase()), seedOfRun() + round, MONGO);
    });
  });
});
