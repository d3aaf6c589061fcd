import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { tables } from '../../../generated/tables.js';
import type { Store } from '../../../runtime/store/store.js';
import { slotOf } from '../../contract/search/behaviour-search-helpers.js';
import { onMongo } from '../../contract/on-mongo.js';
import { openStore } from '../../contract/open-store.js';
import { seedOfRun } from '../../contract/random.js';
import { describeOnMongod } from '../../mongod/for-tests.js';
import { runMoved, writeMoved } from './search-contained-links.js';
import { findWithin, writeWithin } from './search-contained-samples.js';
import { readSamples, withoutContained, writeSamples } from './search-matrix-data.js';
import { createLinkTrials } from './search-oracle-link-trials.js';
import { runFilters } from './search-oracle-filters.js';
import { createTrials } from './search-oracle-trials.js';
import { runWords } from './search-oracle-words.js';

const samples = readSamples(tables);
const seed = seedOfRun() + 1;

/** What `search-oracle.test.ts` asks SQLite, in smaller numbers. */
describeOnMongod('MongoDB finds what the rules of the specification find in the JSON', () => {
  describe('by criteria', () => {
    const mongo = useFilled((store) => writeSamples(store, samples));
    const trials = createTrials(tables, samples);

    it('of values', async () => expect(await trials.run([mongo()], seed, 100)).toBeGreaterThan(25), 60_000);

    it('of words', async () => {
      expect(await runWords(tables, samples, [mongo()], seed, 50)).toBeGreaterThan(25);
    }, 60_000);
  });

  describe('in contained resources', () => {
    const bare = withoutContained(samples, tables);
    const mongo = useFilled((store) => writeWithin(store, bare));
    const within = createTrials(tables, bare, findWithin(tables, bare));

    it('by criteria', async () => expect(await within.run([mongo()], seed, 50)).toBeGreaterThan(10), 60_000);
  });

  const linked = createLinkTrials(tables, samples, 9);

  describe('by chains that lead to contained resources', () => {
    const mongo = useFilled((store) => writeMoved(tables, linked.samples, store, 4));

    it('of any length', async () => {
      expect(await runMoved(tables, linked, [mongo()], seed, 40)).toBeGreaterThan(10);
    }, 60_000);
  });

  describe('by links', () => {
    const mongo = useFilled((store) => writeSamples(store, linked.samples));

    it('in chains, includes and filters', async () => {
      expect(await linked.run([mongo()], seed, 60)).toBeGreaterThan(15);
      expect(await linked.runIncludes([mongo()], seed, 30)).toBeGreaterThan(7);
      expect(await runFilters(linked.world, [mongo()], seed, 60)).toBeGreaterThan(15);
    }, 60_000);
  });
});

/** A store on MongoDB for the tests of a suite, filled before the first and gone after the last. */
function useFilled(fill: (store: Store) => Promise<unknown>): () => Store {
  let store: Store;
  let url: string;
  beforeAll(async () => {
    url = onMongo.url('');
    store = await openStore(url, { slotOf });
    await fill(store);
  }, 120_000);
  afterAll(async () => {
    await store.close();
    await onMongo.drop?.(url);
  });
  return () => store;
}
