import { expect, it } from 'vitest';

import type { PlanLimits } from '../../runtime/store/plan/limits.js';
import { openMongoStore } from '../../runtime/store/mongo/mongo-store.js';
import type { Store } from '../../runtime/store/store.js';
import { slotOf } from './search/behaviour-search-helpers.js';
import { randomLinks, randomLinkWalks } from './search/behaviour-search-link-random.js';
import { randomBusyWalks, randomQueries } from './search/behaviour-search-random.js';
import { WAYS } from './search/plan-limits.js';
import { onMongo } from './on-mongo.js';
import { createRandom, seedOfRun } from './random.js';
import { useStore } from './subject.js';

/**
 * Every way of finding gives the same; which is taken depends on numbers that no small test reaches.
 *
 * @param queries random ones for each way
 */
export function waysOfFinding(queries: number): void {
  const subject = useStore(onMongo);
  const linkLimits = { few: 0, sorted: 0, most: 50_000, sides: { first: 3, most: 20, together: 2 } };

  async function limited(planLimits: PlanLimits): Promise<Store> {
    return subject.keep(await openMongoStore(subject.url, { slotOf, planLimits, linkLimits, queryBudget: 60_000 }));
  }

  it.each(WAYS.map(([how, limits], n) => ({ how, limits, n })))(
    'searches that are $how find what matches says',
    { timeout: 600_000 },
    async ({ limits, n }) => {
      const store = await limited(limits);
      await randomQueries(store, 'Random', seedOfRun() + n, queries);
      await randomLinks(store, 'Link', seedOfRun() + n, queries);
      await randomLinkWalks(store, 'Place', seedOfRun() + n, queries);
    },
  );

  it('go on from a page that others found, while resources are written', { timeout: 600_000 }, async () => {
    const random = createRandom(seedOfRun());
    const stores = await Promise.all(WAYS.map(([, limits]) => limited(limits)));
    const find: Store['find'] = (query, signal) => random.pick(stores).find(query, signal);
    await randomQueries({ ...stores[0]!, find }, 'Random', seedOfRun() + 3, queries);
    await randomBusyWalks({ ...stores[0]!, find }, 'Busy', seedOfRun(), queries);
    expect(stores).toHaveLength(WAYS.length);
  });
}
