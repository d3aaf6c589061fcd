import { describe } from 'vitest';

import { examinedChains } from '../../conformance/search/search-examined-chains.js';
import { examinedLinks } from '../../conformance/search/search-examined-links.js';
import { openStore } from '../../contract/open-store.js';
import { describeOnMongod, newDatabase } from '../../mongod/for-tests.js';
import { soak } from '../soak.js';

/**
 * Resources of each of two types: all but ten match on one side, ten on the other; and at the end of chains. More than the 50,000 that may
 * be collected.
 */
const MANY = soak(60_000);

describe('what links look at is in proportion to the side where there is less', () => {
  describe('on SQLite', () => examinedLinks(() => openStore('sqlite::memory:'), MANY));
  describeOnMongod('on MongoDB', () => examinedLinks(() => openStore(newDatabase()), MANY));
});

describe('what chains look at is in proportion to all that they lead to on the way', () => {
  describe('on SQLite', () => examinedChains(() => openStore('sqlite::memory:'), MANY, true));
  describeOnMongod('on MongoDB', () => examinedChains(() => openStore(newDatabase()), MANY, false));
});
