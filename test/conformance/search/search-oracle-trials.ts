import { expect } from 'vitest';

import { OwnBases } from '../../../runtime/path/own-bases.js';
import type { SearchRow, Tables } from '../../../runtime/contract/index.js';
import { parametersOf } from '../../../runtime/indexing/parameters-of.js';
import { placesOf } from '../../../runtime/indexing/parameter-kinds.js';
import { matches } from '../../../runtime/search/query/match.js';
import { parseCriterion } from '../../../runtime/search/parse/parse-criterion.js';
import type { Condition } from '../../../runtime/search/query/query.js';
import { utc } from '../../../runtime/indexing/values/zone.js';
import type { Store } from '../../../runtime/store/store.js';
import { idsOf, query } from '../../contract/search/behaviour-search-helpers.js';
import { createRandom, type Random } from '../../contract/random.js';
import type { Sample } from './search-matrix-data.js';
import { joined, nameOf, randomCriterion, type Criterion } from './search-oracle-criteria.js';
import { createSearchOracle, type SearchOracle } from './search-oracle.js';

/** When the random criteria are asked: milliseconds since the epoch. */
export const NOW = Date.parse('2024-06-01T00:00:00Z');
/** Base URL of the server that is asked. */
export const BASE = 'http://here/fhir';

/** What random criteria are about. */
export interface Trials {
  /** Fails where a store, `matches` and the oracle do not find the same by a criterion. @returns how many found something */
  run(stores: readonly Store[], seed: number, count: number): Promise<number>;
}

/** Finds the samples of a type in a store: their ids, in any order. */
export type FindSamples = (store: Store, type: string, where: Condition) => Promise<readonly string[]>;

const findResources: FindSamples = async (store, type, where) => idsOf(await store.find(query(type, { where })));

/** @param find absent: the samples are resources by themselves */
export function createTrials(
  tables: Tables,
  samples: ReadonlyMap<string, readonly Sample[]>,
  find: FindSamples = findResources,
): Trials {
  const resourceTypes = new Set(tables.resourceTypes);
  const searchTables = new Map(tables.search.map((table) => [table.type, table]));
  const oracle = createSearchOracle({ resourceTypes, baseUrl: BASE, now: NOW });
  const types = [...samples.keys()];
  const rowsOf = new Map(types.map((type) => [type, [...parametersOf(type, searchTables).values()].filter(isTried)]));
  const byKind = new Map<string, (readonly [type: string, row: SearchRow])[]>();
  for (const [type, rows] of rowsOf) {
    for (const row of rows) byKind.set(row.type, [...(byKind.get(row.type) ?? []), [type, row]]);
  }
  const kinds = [...byKind.keys()];

  async function compare(
    stores: readonly Store[],
    type: string,
    row: SearchRow,
    criterion: Criterion,
    what: string,
  ): Promise<number> {
    const { modifier, text } = criterion;
    const where = parseCriterion(nameOf(row, criterion), text, {
      rows: parametersOf(type, searchTables),
      isResourceType: (word) => resourceTypes.has(word),
      zone: utc,
      now: NOW,
      own: new OwnBases([BASE]),
      maxAlternatives: 10,
    });
    const all = samples.get(type)!;
    const said = all.filter(({ resource }) => oracle.finds(row, modifier, text, resource)).map(({ id }) => id).sort(); // prettier-ignore
    const matched = all.filter(({ id, entries }) => matches(where, { id, lastUpdated: 0, entries })).map(({ id }) => id).sort(); // prettier-ignore
    expect(matched, `matches, ${what}`).toEqual(said);
    for (const [n, store] of stores.entries()) {
      expect([...(await find(store, type, where))].sort(), `store ${n}, ${what}`).toEqual(said);
    }
    return said.length;
  }

  return {
    async run(stores, seed, count) {
      const random = createRandom(seed);
      let fruitful = 0;
      for (let n = 0; n < count;) {
        // Each kind has its turn, though there are few numbers and many tokens.
        const [type, row] = random.pick(byKind.get(random.pick(kinds))!);
        const criterion = drawCriterion(random, oracle, row, samples.get(type)!);
        if (criterion === undefined) continue;
        n++;
        const what = `seed ${seed}, ${n}: ${type}?${nameOf(row, criterion)}=${criterion.text}`;
        if ((await compare(stores, type, row, criterion, what)) > 0) fruitful++;
      }
      return fruitful;
    },
  };
}

/** `_lastUpdated` is the store's own; what has no expression, and what is special and no place, finds nothing yet. */
export function isTried(row: SearchRow): boolean {
  const { code, type, paths, components = [] } = row;
  const kinds = [type, ...components.map((component) => component.type)];
  return (
    (!kinds.includes('special') || placesOf(row) !== undefined) &&
    paths.length > 0 &&
    code !== '_lastUpdated' &&
    code !== '_in'
  );
}

/** A random criterion about what some of the samples have; undefined: it makes no sense. */
export function drawCriterion(
  random: Random,
  oracle: SearchOracle,
  row: SearchRow,
  all: readonly Sample[],
): Criterion | undefined {
  if (random.chance(0.05) && row.code !== '_id') return { modifier: 'missing', text: random.pick(['true', 'false']) };
  const one = (): Criterion | undefined => {
    const { resource } = random.pick(all);
    if (row.type !== 'composite') {
      const items = oracle.items(row, resource);
      return items.length === 0 ? undefined : randomCriterion(random, random.pick(items));
    }
    const values = oracle.composites(row, resource);
    if (values.length === 0) return undefined;
    // Parts of one value mostly, or of two that do not belong together.
    const [value, other] = [random.pick(values), random.pick(values)];
    const parts = value.map((items, i) => (i > 0 && random.chance(0.3) ? (other[i] ?? []) : items));
    return joined(
      parts.map((items) =>
        items.length === 0 ? undefined : plainly(() => randomCriterion(random, random.pick(items))),
      ),
      '$',
    );
  };
  const criteria = Array.from({ length: random.chance(0.25) ? 2 + random.below(3) : 1 }, one);
  const drawn = joined(criteria, ',') ?? criteria.find((each) => each !== undefined);
  // The ids of resources take no more.
  return row.code === '_id' && drawn !== undefined && !['', 'not'].includes(drawn.modifier) ? undefined : drawn;
}

/** Parts of composites have no modifiers. */
function plainly(make: () => Criterion | undefined): Criterion | undefined {
  for (let tries = 0; tries < 20; tries++) {
    const criterion = make();
    if (criterion?.modifier === '') return criterion;
  }
  return undefined;
}
