import { beforeAll, expect, it } from 'vitest';

import { OWN } from '../../toy/own.js';
import { tables } from '../../../generated/tables.js';
import { createScopes } from '../../../runtime/auth/scopes/create-scopes.js';
import { Principal } from '../../../runtime/auth/scopes/principal.js';
import { composePut } from '../../../runtime/core/write/compose-change.js';
import type { Resource } from '../../../runtime/fhir/resource.js';
import { RESULT_PARAMETERS } from '../../../runtime/search/control-parameters.js';
import { utc } from '../../../runtime/indexing/values/zone.js';
import type { Store } from '../../../runtime/store/store.js';
import { missingRights } from '../../../runtime/subscriptions/check/needed-rights.js';
import { matchVersion } from '../../../runtime/subscriptions/match/match-version.js';
import { indexSubscriptions } from '../../../runtime/subscriptions/match/subscription-index.js';
import { compileTopic } from '../../../runtime/subscriptions/topic/compile-topic.js';
import { createRandom, seedOfRun } from '../../contract/random.js';
import { owned, servicesOn } from '../../unit/subscriptions/matching.js';
import { searchMaker } from '../auth/leaks/leak-searches.js';
import { makeWorld, POLICIES } from '../auth/leaks/leak-twins.js';
import { valuesOf } from '../auth/leaks/leak-values.js';
import { serveWith } from '../auth/support.js';
import { idsOf } from '../search-server.js';
import { triggered } from './samples.js';

/** Policies without parameters of a store, and with `r` and `s` together. */
const CONSTRAINED = POLICIES.filter(({ scopes, unread }) => unread === undefined && !scopes.includes('x-'));

/**
 * Random topics of random constrained tokens: a Subscription is refused for want of scopes just where a search is, and gets an
 * event of just the versions that a search with its token shows.
 */
export function matchesAsTokensSearch(store: Store, count: number): void {
  const server = serveWith(store);
  const services = servicesOn(store);
  const { access } = createScopes({ tables, zone: utc, own: OWN });
  const seed = seedOfRun();
  const drafts = makeWorld(seed, undefined);

  beforeAll(async () => {
    for (const { versions } of drafts) {
      const content = versions.at(-1)?.content as Resource | undefined;
      if (content === undefined) continue;
      const change = await composePut(content, String(content['id']), undefined, services);
      if (change !== undefined) await store.write([change]);
    }
  }, 120_000);

  it.each(CONSTRAINED)(
    'what $name shows',
    async ({ scopes, all, open = [] }) => {
      const random = createRandom(seed);
      const types = [...all, ...open].filter((type) => type !== 'Binary');
      const search = searchMaker(random, valuesOf(drafts), types);
      let fruitful = 0;
      for (let n = 0; n < count;) {
        const type = random.pick(types);
        const pairs = search(type, true).filter(([name]) => !Object.hasOwn(RESULT_PARAMETERS, name) && !/^_(?:rev)?include/.test(name)); // prettier-ignore
        if (pairs.length === 0 || pairs.some(([, value]) => value.includes('@'))) continue;
        const query = pairs.map((pair) => pair.map(encodeURIComponent).join('=')).join('&');
        const { plan } = compileTopic(triggered({ resource: type, queryCriteria: { current: query } }), services);
        if (plan === undefined) continue;
        n++;
        const what = `seed ${seed}, ${n}: ${type}?${decodeURIComponent(query)} with ${scopes}`;
        const principal = Principal.ofClient({ clientId: 'c', scope: scopes, access: access(scopes) });
        const one = owned(plan, services, {}, principal);
        const answer = await server.as(scopes).send('GET', `/${type}?${query}&_count=1000`);
        const isRefused = missingRights(one.plan, principal.access) !== undefined;
        expect(isRefused, `${what}: ${answer.text.slice(0, 500)}`).toBe(answer.status === 403);
        // What the store lacks, a value set say, both cannot evaluate.
        if (isRefused || answer.status === 400) continue;
        expect(answer.status, `${what}: ${answer.text.slice(0, 500)}`).toBe(200);
        const got = await eventsOf(type);
        expect(got.sort(), what).toEqual(idsOf(answer).sort());
        if (got.length > 0) fruitful++;

        async function eventsOf(of: string): Promise<string[]> {
          const found: string[] = [];
          const { versions } = await store.find({ type: of, where: { all: [] }, sort: [], count: 1000, total: 'none' });
          for (const version of versions) {
            const change = { interaction: 'create', version, before: undefined } as const;
            const { matched } = await matchVersion(change, indexSubscriptions([one]), services);
            if (matched.length > 0) found.push(version.id);
          }
          return found;
        }
      }
      expect(fruitful).toBeGreaterThan(0);
    },
    120_000,
  );
}
