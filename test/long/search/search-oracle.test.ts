import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { tables } from '../../../generated/tables.js';
import type { Store } from '../../../runtime/store/store.js';
import { readSamples, writeSamples } from '../../conformance/search/search-matrix-data.js';
import { runFilters } from '../../conformance/search/search-oracle-filters.js';
import { createLinkTrials } from '../../conformance/search/search-oracle-link-trials.js';
import { createTrials } from '../../conformance/search/search-oracle-trials.js';
import { slotOf } from '../../contract/search/behaviour-search-helpers.js';
import { onMongo } from '../../contract/on-mongo.js';
import { openStore } from '../../contract/open-store.js';
import { seedOfRun } from '../../contract/random.js';
import { describeOnMongod } from '../../mongod/for-tests.js';
import { soak } from '../soak.js';

/** 800 random criteria about all official examples, at scale 1. */
describeOnMongod('a criterion finds the same in the JSON, on SQLite, on MongoDB, and by matches', () => {
  const samples = readSamples(tables, true);
  const trials = createTrials(tables, samples);
  const stores: Store[] = [];
  let url: string;
  beforeAll(async () => {
    url = onMongo.url('');
    stores.push(await openStore('sqlite::memory:'), await openStore(url, { slotOf }));
    for (const store of stores) await writeSamples(store, samples);
  });
  afterAll(async () => {
    for (const store of stores) await store.close();
    await onMongo.drop?.(url);
  });

  describe('in ten parts', () => {
    it.each(Array.from({ length: 10 }, (_, n) => n))('random criteria (%i)', async (n) => {
      expect(await trials.run(stores, seedOfRun() + n, soak(80))).toBeGreaterThan(soak(15));
    });
  });
});

/** 500 random chains and reverse chains, and 150 includes, at scale 1, among examples that refer to each other in five ways. */
describeOnMongod('links find the same in the JSON, on SQLite, on MongoDB, and by matches', () => {
  const samples = readSamples(tables);

  it.each([0, 1, 2, 3, 4])('random links (%i)', async (n) => {
    const seed = seedOfRun() + n;
    const linked = createLinkTrials(tables, samples, seed);
    const url = onMongo.url('');
    const stores = [await openStore('sqlite::memory:'), await openStore(url, { slotOf })];
    try {
      for (const store of stores) await writeSamples(store, linked.samples);
      expect(await linked.run(stores, seed, soak(100))).toBeGreaterThan(soak(25));
      expect(await linked.runIncludes(stores, seed, soak(30))).toBeGreaterThan(soak(7));
      expect(await runFilters(linked.world, stores, seed, soak(100))).toBeGreaterThan(soak(25));
    } finally {
      for (const store of stores) await store.close();
      await onMongo.drop?.(url);
    }
  });
});
