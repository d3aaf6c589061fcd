import { describe } from 'vitest';

import { amendBehaviour } from './behaviour-amend.js';
import { blobBehaviour } from './behaviour-blobs.js';
import { concurrencyBehaviour } from './behaviour-concurrency.js';
import { containedBehaviour } from './behaviour-contained.js';
import { copyBehaviour } from './behaviour-copy.js';
import { countByBehaviour } from './behaviour-count-by.js';
import { expungeBehaviour } from './behaviour-expunge.js';
import { guardLimitBehaviour } from './behaviour-guard-limits.js';
import { guardBehaviour } from './behaviour-guards.js';
import { historyBehaviour } from './behaviour-history.js';
import { largeWriteBehaviour } from './behaviour-large-writes.js';
import { logBehaviour } from './behaviour-log.js';
import { mapBehaviour } from './behaviour-maps.js';
import { referenceBehaviour } from './behaviour-references.js';
import { resourceBehaviour } from './behaviour-resources.js';
import { searchAcrossBehaviour } from '../search/behaviour-search-across.js';
import { searchIncludeBehaviour } from '../search/behaviour-search-includes.js';
import { searchLimitBehaviour } from '../search/behaviour-search-limits.js';
import { searchLinkCrowdBehaviour } from '../search/behaviour-search-link-crowd.js';
import { searchLinkRandomBehaviour } from '../search/behaviour-search-link-random.js';
import { searchLinkBehaviour } from '../search/behaviour-search-links.js';
import { searchOwnBaseBehaviour } from '../search/behaviour-search-own-base.js';
import { searchPageBehaviour } from '../search/behaviour-search-pages.js';
import { searchScopesRandomBehaviour } from '../search/behaviour-search-scopes-random.js';
import { searchRandomBehaviour } from '../search/behaviour-search-random.js';
import { searchUpkeepBehaviour } from '../search/behaviour-search-upkeep.js';
import { searchBehaviour } from '../search/behaviour-search.js';
import type { Subject } from '../subject.js';

/** What every store must do. */
export function behaviour(on: Subject): void {
  describe(`the store port on ${on.name}`, () => {
    describe('resources', () => resourceBehaviour(on));
    describe('writes at once', () => concurrencyBehaviour(on));
    describe('guards of a write', () => guardBehaviour(on));
    describe('references of a write', () => referenceBehaviour(on));
    describe('writes of many changes', () => largeWriteBehaviour(on));
    describe('limits of guards', () => guardLimitBehaviour(on));
    describe('amendments', () => amendBehaviour(on));
    describe('expunging', () => expungeBehaviour(on));
    describe('history', () => historyBehaviour(on));
    describe('search', () => searchBehaviour(on));
    describe('pages of a search', () => searchPageBehaviour(on));
    describe('what searches find it by', () => searchUpkeepBehaviour(on));
    describe('counts by what is in resources', () => countByBehaviour(on));
    describe('links of a search', () => searchLinkBehaviour(on));
    describe('what is within resources', () => containedBehaviour(on));
    describe('includes of a search', () => searchIncludeBehaviour(on));
    describe('references below the own base', () => searchOwnBaseBehaviour(on));
    describe('limits of a search', () => searchLimitBehaviour(on));
    describe('random searches', () => searchRandomBehaviour(on));
    describe('random scopes', () => searchScopesRandomBehaviour(on));
    describe('blobs', () => blobBehaviour(on));
    describe('maps', () => mapBehaviour(on));
    describe('the log', () => logBehaviour(on));
    describe('scan and restore', () => copyBehaviour(on));
  });
}

/** The rest of it, which takes long: in the long project. */
export function behaviourAtLength(on: Subject): void {
  describe(`the store port on ${on.name}, at length`, () => {
    describe('links among many', () => searchLinkCrowdBehaviour(on));
    describe('searches over several types', () => searchAcrossBehaviour(on));
    describe('random links', () => searchLinkRandomBehaviour(on));
  });
}
