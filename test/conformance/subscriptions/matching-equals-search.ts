import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { tables } from '../../../generated/tables.js';
import { OPEN_ACCESS } from '../../../runtime/auth/scopes/principal.js';
import { createServices } from '../../../runtime/http/create-services.js';
import type { Resource } from '../../../runtime/fhir/resource.js';
import { OwnBases } from '../../../runtime/path/own-bases.js';
import { createExtractor } from '../../../runtime/indexing/extract.js';
import type { Put, Store } from '../../../runtime/store/store.js';
import { composePut } from '../../../runtime/core/write/compose-change.js';
import { fulfilsCriteria } from '../../../runtime/subscriptions/match/criteria-test.js';
import { focusOf } from '../../../runtime/subscriptions/match/focus.js';
import { readSearchCriteria } from '../../../runtime/subscriptions/topic/read-criteria.js';
import { idsOf, query } from '../../contract/search/behaviour-search-helpers.js';
import { openStore } from '../../contract/open-store.js';
import { createRandom, seedOfRun, type Random } from '../../contract/random.js';
import { resolveCriteria } from '../../../runtime/search-execution/execute/resolve-criteria.js';
import { readSamples, type Sample } from '../search/search-matrix-data.js';
import { moveInto } from '../search/search-contained-links.js';
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

  /** Writes resources as a client would, whole. */
  async function writeAll(store: Store, resourceOf: (sample: Sample) => object): Promise<void> {
    const { services } = createServices({ tables, store, extract, own });
    const changes: Put[] = [];
    for (const [type, samples] of linked.samples) {
      for (const sample of samples) {
        const { meta: _meta, ...rest } = resourceOf(sample) as Resource;
        const change = await composePut({ ...rest, resourceType: type }, sample.id, undefined, services);
        if (change !== undefined) changes.push(change);
      }
    }
    // Few at a time: some are large, and a transaction of MongoDB has to fit into its cache and its time.
    for (let at = 0; at < changes.length; at += 20) await store.write(changes.slice(at, at + 20));
  }

  const random = createRandom(4);
  describe.each<[string, (sample: Sample) => object]>([
    ['refer to each other', ({ resource }) => resource],
    ['contain copies of what they refer to', (sample) => moveInto(sample, linked.samples, random).resource],
  ])('resources that %s', (_, resourceOf) => {
    let store: Store;
    beforeAll(async () => {
      store = await openStore(newUrl());
      await writeAll(store, resourceOf);
    }, 120_000);
    afterAll(() => store.close());

    it('match criteria as a search finds them', async () => {
      expect(await compare(store, createRandom(seedOfRun()))).toBeGreaterThan(count / 5);
    }, 120_000);
  });
}
