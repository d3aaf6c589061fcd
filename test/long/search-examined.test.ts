import { describe } from 'vitest';

import { examinedLinks } from '../conformance/search-examined-links.js';
import { openStore } from '../contract/open-store.js';
import { describeOnMongod, newDatabase } from '../mongod/for-tests.js';

/** Resources of each of two types: 299,990 match on one side, ten on the other. */
const MANY = 300_000;

describe('what links look at is in proportion to the side where there is less', () => {
  describe('on SQLite', () => examinedLinks(() => openStore('sqlite::memory:'), MANY));
  describeOnMongod('on MongoDB', () => examinedLinks(() => openStore(newDatabase()), MANY));
});
