import { describe } from 'vitest';

import { concurrencyBehaviour } from './behaviour-concurrency.js';
import { resourceBehaviour } from './behaviour-resources.js';
import { searchAcrossBehaviour } from './behaviour-search-across.js';
import { searchLinkRandomBehaviour } from './behaviour-search-link-random.js';
import { searchUpkeepBehaviour } from './behaviour-search-upkeep.js';
import { searchBehaviour } from './behaviour-search.js';
import { inMemory } from './in-memory.js';

// It is the store of a file, but for where the file is and that nothing waits for the disk: here what writes and finds, and the
// whole contract in the long project.
describe('the store port on sqlite::memory:, in part', () => {
  describe('resources', () => resourceBehaviour(inMemory));
  describe('writes at once', () => concurrencyBehaviour(inMemory));
  describe('search', () => searchBehaviour(inMemory));
  describe('random links', () => searchLinkRandomBehaviour(inMemory));
  describe('searches over several types', () => searchAcrossBehaviour(inMemory));
  describe('what searches find it by', () => searchUpkeepBehaviour(inMemory));
});
