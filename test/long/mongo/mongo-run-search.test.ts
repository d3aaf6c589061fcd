import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';

import { openSearchTurns, runSearch } from '../../../runtime/store/mongo/query/run-search.js';
import { tooCostly } from '../../../runtime/store/mongo/mongo-errors.js';
import type { Snapshot, Snapshots } from '../../../runtime/store/mongo/read/snapshot.js';
import { atMost } from '../../at-most.js';

const BUDGET = 4000;

/** A database that computes for as long as a search says, and stops where it is told to. */
function openDatabase() {
  const seen = { now: 0, most: 0 };
  const begun = performance.now();
  const run = async (time: number, stopAfter: number): Promise<void> => {
    seen.now++;
    // Once those that are short have ended.
    if (performance.now() - begun > 1000) seen.most = Math.max(seen.most, seen.now);
    await sleep(Math.min(time, stopAfter));
    seen.now--;
    if (time > stopAfter) throw tooCostly();
  };
  const snapshots: Snapshots = {
    async run({ budget, stopAfter = budget }, work) {
      const find = async ({ limit }: { limit: number }) => {
        await run(limit, Math.min(budget, stopAfter));
        return { documents: [], isCut: false };
      };
      return work({ find } as unknown as Snapshot);
    },
  };
  const turns = openSearchTurns(50);
  const search = (time: number): Promise<number> => {
    const asked = performance.now();
    return runSearch(snapshots, turns, { asked: time }, { budget: BUDGET, signal: undefined }, async (snapshot) => {
      await snapshot.find({ collection: 'resource', filter: {}, limit: time });
      return performance.now() - asked;
    });
  };
  return { search, seen };
}

it('searches beyond their budget let the short ones pass, and those that take longer; few of them run at a time', async () => {
  const { search, seen } = openDatabase();
  const costly = Array.from({ length: 12 }, () => search(60_000));
  const ended = Promise.allSettled(costly);
  await sleep(350);
  for (let n = 0; n < 5; n++) expect(await search(5)).toBeLessThan(atMost(90));
  // It does not fit into the time of the short ones, and waits for one turn of those like it.
  expect(await search(150)).toBeLessThan(atMost(1200));
  const begun = performance.now();
  for (const each of await ended) expect(each).toMatchObject({ reason: { code: 'too-costly' } });
  expect(performance.now() - begun).toBeLessThan(atMost(BUDGET));
  expect(seen.most).toBeLessThanOrEqual(10);
});

it('one alone is not stopped in between', async () => {
  const { search } = openDatabase();
  expect(await search(600)).toBeLessThan(atMost(750));
});
