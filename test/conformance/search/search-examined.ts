import { afterAll, beforeAll, expect, it } from 'vitest';

import { OwnBases } from '../../../runtime/path/own-bases.js';
import { tables } from '../../../generated/tables.js';
import { parametersOf } from '../../../runtime/indexing/parameters-of.js';
import { parseCriterion } from '../../../runtime/search/parse/parse-criterion.js';
import type { Condition } from '../../../runtime/search/query/query.js';
import { utc } from '../../../runtime/indexing/values/zone.js';
import type { Store } from '../../../runtime/store/store.js';
import { clinic, createRandom } from '../../bench/data/clinic.js';
import { load } from '../../bench/data/load-clinic.js';
import { CASES, type SearchCase } from '../../bench/data/search-cases.js';
import { ordersOf } from './search-examined-links.js';

const PAGE = 20;
/** Enough that a way which looks at everything is far outside the bound. */
const RESOURCES = 12_200;
const records = clinic(RESOURCES);
/** Search parameters by type. */
export const search = new Map(tables.search.map((table) => [table.type, table]));

/** What may be looked at for a page, for each of its resources and of the matches of the most selective condition. */
const BOUND = 20;

/** Searches of several conditions on Observations, besides those of the bench. */
const SEVERAL: readonly (readonly (readonly [string, string])[])[] = [
  [
    ['status', 'final'],
    ['code', 'http://loinc.org|8867-4'],
    ['patient', `Patient/${records.patients[3]}`],
  ],
  [
    ['code', '8480-6'],
    ['date', 'ge2021-03-01'],
    ['date', 'lt2021-03-04'],
  ],
  [
    ['status', 'final'],
    ['category', 'laboratory'],
    ['value-quantity', 'gt190|http://unitsofmeasure.org|mm[Hg]'],
  ],
];

function conditionsOf(type: string, query: SearchCase['query']): Condition[] {
  const context = {
    rows: parametersOf(type, search),
    isResourceType: (name: string) => tables.resourceTypes.includes(name),
    zone: utc,
    own: new OwnBases(),
    now: Date.UTC(2025, 0, 1),
    maxAlternatives: 10,
  };
  return query.map(([name, value]) => parseCriterion(name, value, context) as Condition);
}

async function countOf(store: Store, type: string, where: Condition): Promise<number> {
  const { total } = await store.find({ type, where, sort: [], count: 0, total: 'accurate' });
  return total!;
}

/** What a condition asks for one by one. */
function partsOf(condition: Condition): readonly Condition[] {
  return 'all' in condition ? condition.all : [condition];
}

/** Each search of the bench, and some of several conditions, on one store. */
export function examinedSearches(open: () => Promise<Store>): void {
  let store: Store;
  beforeAll(async () => {
    store = await open();
    await load(store, records.resources);
  }, 120_000);
  afterAll(() => store.close());

  async function check(type: string, conditions: readonly Condition[], sort?: string): Promise<void> {
    const counts = await Promise.all(conditions.flatMap(partsOf).map((each) => countOf(store, type, each)));
    const bound = BOUND * (PAGE + (counts.length === 0 ? 0 : Math.min(...counts)));
    const row = sort === undefined ? undefined : parametersOf(type, search).get(sort.replace('-', ''))!;
    const keys =
      row === undefined ? [] : [{ param: row.code, by: row.type as 'date', isDescending: sort!.startsWith('-') }];
    for (const all of ordersOf(conditions)) {
      const query = { type, where: { all }, sort: keys, count: PAGE, total: 'none' as const };
      const { examined, returned, driving } = await store.explain(query);
      expect(examined, `${driving}, ${JSON.stringify(all)}`).toBeLessThanOrEqual(bound);
      expect(examined).toBeGreaterThanOrEqual(returned);
    }
  }

  it.each(CASES)('$name', async ({ draw }) => {
    const random = createRandom(5);
    for (let n = 0; n < 5; n++) {
      const { type, query, sort } = draw(random, records);
      await check(type, conditionsOf(type, query), sort);
    }
  });

  it.each(SEVERAL)('%s and %s and %s, in every order', async (...query) => {
    await check('Observation', conditionsOf('Observation', query as SearchCase['query']));
  });
}

/** Of each of two types, which refer to each other; `test:long` has many more. */
export const LINKED = 6000;
