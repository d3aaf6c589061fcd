import { describe } from 'vitest';

import { blobBehaviour } from './behaviour-blobs.js';
import { concurrencyBehaviour } from './behaviour-concurrency.js';
import { copyBehaviour } from './behaviour-copy.js';
import { historyBehaviour } from './behaviour-history.js';
import { mapBehaviour } from './behaviour-maps.js';
import { resourceBehaviour } from './behaviour-resources.js';
import { searchBehaviour } from './behaviour-search.js';
import type { Subject } from './subject.js';

/** What every store must do. */
export function behaviour(on: Subject): void {
  describe(`the store port on ${on.name}`, () => {
    describe('resources', () => resourceBehaviour(on));
    describe('writes at once', () => concurrencyBehaviour(on));
    describe('history', () => historyBehaviour(on));
    describe('search', () => searchBehaviour(on));
    describe('blobs', () => blobBehaviour(on));
    describe('maps', () => mapBehaviour(on));
    describe('scan and restore', () => copyBehaviour(on));
  });
}
