import { expect, it } from 'vitest';

import { matches, type Candidate } from '../../../runtime/search/query/match.js';
import { printCondition, printSort } from '../../../runtime/search/query/print.js';
import { compareBy } from '../../toy/compare-by.js';
import type { Store } from '../../../runtime/store/store.js';
import { createGenerator } from './behaviour-search-generator.js';
import { settled, sharedStore, walk } from './behaviour-search-helpers.js';
import { createRandom, seedOfRun } from '../random.js';
import { deletion, put, type Subject } from '../subject.js';

/** Random queries, 200 on a SQLite file and MongoDB together; `test:long` has thousands. */
export function searchRandomBehaviour(on: Subject): void {
  const subject = sharedStore(on);

  it.each([0, 1])(
    'find what matches says, in that order, on whatever pages (%i)',
    async (n) => {
      await randomQueries(subject.store, `Random${n}`, seedOfRun() + n, 50);
    },
    60_000,
  );

  it.each([0, 1])(
    'find each untouched resource once while others write between pages (%i)',
    async (n) => {
      await randomBusyWalks(subject.store, `Busy${n}`, seedOfRun() + n, 10);
    },
    60_000,
  );
}

/** Resources that each seed has. */
const RESOURCES = 200;

/**
 * Makes random resources, created, updated, deleted and revived; then random queries, of which each has to find what `matches`
 * and `compareBy` say, in that order but for what is alike, on pages of a random size, with that total. Without a sort pages come in any order: together
 * they are exactly the matches, once each.
 *
 * @param type no other resources in the store may be of it
 */
export async function randomQueries(store: Store, type: string, seed: number, queries: number): Promise<void> {
  const random = createRandom(seed);
  const ids = Array.from({ length: RESOURCES }, (_, n) => `${random.pick(['a', 'B', 'c-', '9'])}${n}`);
  const generator = createGenerator(random, [...ids, 'none']);
  const candidates = new Map<string, Candidate>();
  const versions = new Map<string, number>();
  for (let round = 0; round < 3; round++) {
    const touched = ids.filter(() => round === 0 || random.chance(0.2));
    const changes = touched.map((id) => {
      const version = versions.get(id) ?? 0;
      versions.set(id, version + 1);
      if (candidates.has(id) && random.chance(0.3)) {
        candidates.delete(id);
        return deletion(id, version, type);
      }
      const entries = generator.entries();
      candidates.set(id, { id, lastUpdated: 0, entries });
      return put(id, version, 'x', entries, type);
    });
    // In pieces, so that not all have one time.
    for (let at = 0; at < changes.length; at += 20) {
      const written = await store.write(changes.slice(at, at + 20));
      for (const { id, lastUpdated, json } of written) {
        if (json !== undefined) candidates.set(id, { ...candidates.get(id)!, lastUpdated });
      }
    }
  }
  const all = [...candidates.values()];
  const times = all.map(({ lastUpdated }) => lastUpdated);
  for (let n = 0; n < queries; n++) {
    const time = random.pick(times);
    const drawn = generator.condition();
    const where = random.chance(0.1)
      ? { all: [drawn, { updated: [{ low: { gte: time } }, { high: { lt: time - 5 } }] }] }
      : drawn;
    const sort = generator.sort();
    const expected = all.filter((each) => matches(where, each)).sort(compareBy(sort)).map(({ id }) => id); // prettier-ignore
    const count = random.chance(0.5) ? RESOURCES : 1 + random.below(random.chance(0.05) ? 5 : 100);
    const what = `seed ${seed}, query ${n}: ${printCondition(where)} by ${printSort(sort)}, ${count} a page`;
    const totals = new Set<number | undefined>();
    const total = random.pick(['accurate', 'cheap', 'none'] as const);
    const asked = { type, where, sort, count, total };
    const found = await walk(store, asked, (page) => totals.add(page.total)).catch((error: unknown) => {
      throw new Error(what, { cause: error });
    });
    const inOrder = settled(found.map((id) => candidates.get(id)!), sort, compareBy(sort)); // prettier-ignore
    expect(inOrder.map(({ id }) => id), what).toEqual(expected); // prettier-ignore
    // A cheap one may be unknown, but on all pages alike.
    if (total === 'cheap' && !totals.has(expected.length)) expect([...totals], what).toEqual([undefined]);
    else expect([...totals], what).toEqual([total === 'none' ? undefined : expected.length]);
  }
}

/** Resources of which half are written between pages. */
const BUSY = 120;

/**
 * Makes random resources, and random queries on small pages between which half of these change, go and come back. The other half is
 * found as if nobody wrote: what matches, once each, in the order that is asked for.
 *
 * @param type no other resources in the store may be of it
 */
export async function randomBusyWalks(store: Store, type: string, seed: number, queries: number): Promise<void> {
  const random = createRandom(seed);
  const ids = Array.from({ length: BUSY }, (_, n) => `${random.pick(['a', 'B', 'c-', '9'])}${n}`);
  const generator = createGenerator(random, ids);
  const [stays, changes] = [ids.filter((_, n) => n % 2 === 0), ids.filter((_, n) => n % 2 === 1)];
  const entries = new Map(ids.map((id) => [id, generator.entries()]));
  const versions = new Map(ids.map((id) => [id, 1]));
  const lives = new Set(ids);
  const written = await store.write(ids.map((id) => put(id, 0, 'x', entries.get(id)!, type)));
  const times = new Map(written.map(({ id, lastUpdated }) => [id, lastUpdated]));
  const all = stays.map((id): Candidate => ({ id, lastUpdated: times.get(id)!, entries: entries.get(id)! }));
  async function writeSome(): Promise<void> {
    const some = new Set(random.some(6, () => random.pick(changes)));
    const writes = [...some].map((id) => {
      const version = versions.get(id)!;
      versions.set(id, version + 1);
      const isGone = lives.has(id) && random.chance(0.4);
      if (isGone) lives.delete(id);
      else lives.add(id);
      return isGone ? deletion(id, version, type) : put(id, version, 'y', generator.entries(), type);
    });
    if (writes.length > 0) await store.write(writes);
  }
  for (let n = 0; n < queries; n++) {
    const [where, sort] = [generator.condition(), random.chance(0.7) ? [] : generator.sort()];
    const count = 2 + random.below(8);
    const expected = all.filter((each) => matches(where, each)).sort(compareBy(sort)).map(({ id }) => id); // prettier-ignore
    const what = `seed ${seed}, query ${n}: ${printCondition(where)} by ${printSort(sort)}, ${count} a page`;
    const found = await walk(store, { type, where, sort, count, total: 'none' }, writeSome).catch((error: unknown) => {
      throw new Error(what, { cause: error });
    });
    const stayed = found.flatMap((id) => all.find((each) => each.id === id) ?? []);
    expect(settled(stayed, sort, compareBy(sort)).map(({ id }) => id), what).toEqual(expected); // prettier-ignore
  }
}
