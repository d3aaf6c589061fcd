import { afterAll, beforeAll, expect, it } from 'vitest';

import type { PlaceEntry } from '../../../runtime/indexing/entry.js';
import { stripsOf } from '../../../runtime/indexing/places/regions.js';
import { matches } from '../../../runtime/search/query/match.js';
import type { Condition, PlaceTest } from '../../../runtime/search/query/query.js';
import type { Store } from '../../../runtime/store/store.js';
import { createRandom } from '../../contract/random.js';
import { put } from '../../contract/subject.js';

const PLACES = 4000;
/** What may be looked at, for each resource of a page and each that is found; rows of regions are several. */
const BOUND = 20;
const PAGE = 20;

/** Half of them around few cities, some of them regions with many corners. */
const { next, pick } = createRandom(11);
const cities = Array.from({ length: 8 }, () => [next() * 100 - 40, next() * 300 - 150] as const);
const point = () => {
  const [latitude, longitude] = pick(cities);
  const spread = next() < 0.5 ? 1 : 40;
  return { latitude: latitude + (next() - 0.5) * spread, longitude: longitude + (next() - 0.5) * spread };
};
const located = Array.from({ length: PLACES }, (_, n) => {
  const { latitude, longitude } = point();
  const size = n % 3 === 0 ? 0.2 : 2;
  const ring = Array.from({ length: 201 }, (_each, i) => {
    const angle = ((i % 200) * Math.PI) / 100;
    return [longitude + size * Math.cos(angle), latitude + size * Math.sin(angle)] as const;
  });
  const entries: PlaceEntry[] = [{ kind: 'position', param: 'at', latitude, longitude }];
  if (n % 10 === 0) entries.push(...stripsOf([ring]).map((strip) => ({ kind: 'region' as const, param: 'area', ...strip }))); // prettier-ignore
  return { id: `p${n}`, entries };
});
const asked = (is: PlaceTest['is'], distance = 0): PlaceTest[] =>
  cities.map(([latitude, longitude]) => ({ ...(is === 'near' ? { is, distance } : { is }), latitude, longitude }));

/** Searches by distance and within regions, on one store. */
export function examinedPlaces(open: () => Promise<Store>): void {
  let store: Store;
  beforeAll(async () => {
    store = await open();
    for (let at = 0; at < PLACES; at += 500) {
      await store.write(located.slice(at, at + 500).map(({ id, entries }) => put(id, 0, 'x', entries, 'Location')));
    }
  }, 60_000);
  afterAll(() => store.close());

  it.each([
    ['near, 1 km', 'at', asked('near', 1000)],
    ['near, 20 km', 'at', asked('near', 20_000)],
    ['near, 200 km', 'at', asked('near', 200_000)],
    ['around', 'area', asked('around')],
  ] as const)('%s: little more is looked at than what is found', async (_what, param, tests) => {
    for (const test of tests) {
      const where: Condition = { param, places: [test] };
      const count = located.filter((each) => matches(where, { ...each, lastUpdated: 0 })).length;
      const { examined } = await store.explain({ type: 'Location', where, sort: [], count: PAGE, total: 'cheap' });
      expect(examined, JSON.stringify([test, count])).toBeLessThanOrEqual(BOUND * (PAGE + count));
    }
  });
}
