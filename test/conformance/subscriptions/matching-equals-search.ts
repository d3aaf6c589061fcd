import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { tables } from '../../../generated/tables.js';
import { OPEN_ACCESS } from '../../../runtime/auth/scopes/principal.js';
import { createServices } from '../../../runtime/http/create-services.js';
import type { Resource } from '../../../runtime/fhir/resource.js';
import { OwnBases } from '../../../runtime/path/own-bases.js';
import { createExtractor } from '../../../runtime/search/extract.js';
import type { Store } from '../../../runtime/store/store.js';
import { fulfilsCriteria } from '../../../runtime/subscriptions/match/criteria-test.js';
import { focusOf } from '../../../runtime/subscriptions/match/focus.js';
import { readSearchCriteria } from '../../../runtime/subscriptions/topic/read-criteria.js';
import { idsOf, query } from '../../contract/search/behaviour-search-helpers.js';
import { openStore } from '../../contract/open-store.js';
import { createRandom, seedOfRun, type Random } from '../../contract/random.js';
import { resolveCriteria } from '../../../runtime/core/search/execute/resolve-criteria.js';
import { readSamples, writeSamples } from '../search/search-matrix-data.js';
import { writeMoved } from '../search/search-contained-links.js';
import { createLinkTrials } from '../search/search-oracle-link-trials.js';
import { writeLinked } from '../search/search-oracle-links.js';
import { BASE } from '../search/search-oracle-trials.js';

/** Random criteria of topics find in single versions what a search finds in the store. */
export function matchingEqualsSearch(newUrl: () => string, count: number): void {
  const linked = createLinkTrials(tables, readSamples(tables), 9);
  const own = new OwnBases([BASE]);
  const extract = createExtractor(tables, { own });

  async function compare(store: Store, random: Random): Promise<number> {
    const { services } = createServices({ tables, store, extract, own });
    let fruitful = 0;
    for (let n = 0; n < count;) {
      const drawn = linked.draw(random);
      if (drawn === undefined) continue;
      n++;
      const { type } = drawn;
      const text = writeLinked(drawn.linked)
        .map((part) => encodeURIComponent(part))
        .join('=');
      const focus = { name: type, isGeneral: false, types: new Set([type]) };
      const criteria = readSearchCriteria(text, focus, services);
      const find: Store['find'] = (each) => store.find(each);
      const codesOf = () => Promise.reject(new Error('no codes are drawn'));
      const source = { find, findReadable: find, codesOf, extract, tables, zone: services.zone, own };
      const where = await resolveCriteria(criteria.criteria, source);
      const searched = [...idsOf(await store.find(query(type, { where, count: 10_000 })))].sort();
      const matched: string[] = [];
      for (const { id, lastUpdated, json } of (await store.find(query(type, { count: 10_000 }))).versions) {
        const version = focusOf({ id, lastUpdated }, JSON.parse(json!) as Resource, services);
        if (await fulfilsCriteria(criteria, version, OPEN_ACCESS, services, undefined)) matched.push(id);
      }
      expect(matched.sort(), `seed ${seedOfRun()}, ${n}: ${type}?${decodeURIComponent(text)}`).toEqual(searched);
      if (searched.length > 0) fruitful++;
    }
    return fruitful;
  }

  describe.each<[string, (store: Store) => Promise<unknown>]>([
    ['refer to each other', (store) => writeSamples(store, linked.samples)],
    ['contain copies of what they refer to', (store) => writeMoved(tables, linked.samples, store, 4)],
  ])('resources that %s', (_, write) => {
    let store: Store;
    beforeAll(async () => {
      store = await openStore(newUrl());
      await write(store);
    }, 120_000);
    afterAll(() => store.close());

    it('match criteria as a search finds them', async () => {
      expect(await compare(store, createRandom(seedOfRun()))).toBeGreaterThan(count / 5);
    }, 120_000);
  });
}
