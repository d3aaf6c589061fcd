import { describe } from 'vitest';

import { searchAcrossBehaviour } from './behaviour-search-across.js';
import { searchLinkRandomBehaviour } from './behaviour-search-link-random.js';
import { inMemory } from './in-memory.js';

// It is the store of a file, but for where the file is and that nothing waits for the disk: here what that one does at length
// only, and the whole contract in the long project.
describe('the store port on sqlite::memory:, in part', () => {
  describe('random links', () => searchLinkRandomBehaviour(inMemory));
  describe('searches over several types', () => searchAcrossBehaviour(inMemory));
});
