import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Database } from 'better-sqlite3';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { compareText } from '../../../../runtime/search/query/compare-text.js';
import { printCondition, printSort } from '../../../../runtime/search/query/print.js';
import { connect } from '../../../../runtime/store/sqlite/file/connect.js';
import { openDictionary } from '../../../../runtime/store/sqlite/write/dictionary.js';
import { openFinders } from '../../../../runtime/store/sqlite/query/find.js';
import { SQLITE_LIMITS, type PlanLimits } from '../../../../runtime/store/plan/limits.js';
import { openQueryInterrupt } from '../../../../runtime/store/sqlite/file/query-interrupt.js';
import { openSqliteStore } from '../../../../runtime/store/sqlite/sqlite-store.js';
import type { FindMultiTypeQuery, FindPage, FindQuery, Store, StoredVersion } from '../../../../runtime/store/store.js';
import { createRandom, seedOfRun } from '../../../contract/random.js';
import { deletion, put } from '../../../contract/subject.js';
import { createToyStore } from '../../../toy/store.js';
import { COUNTED, IMPATIENT, WALKED } from '../../../contract/search/plan-limits.js';
import { createGraph, TYPES } from './sqlite-links-data.js';

/** Where links are followed from either side. */
const WAYS: readonly [string, PlanLimits][] = [
  ['as always', SQLITE_LIMITS],
  ['walked', WALKED],
  ['walked for a short while', IMPATIENT],
  ['led by the criterion with the fewest matches', COUNTED],
];

type Here = Pick<Store, 'find' | 'findMultiType'>;

/** Resources of each type. */
const PER_TYPE = 40;

const QUERIES = 25;

describe('links between resources', () => {
  const seed = seedOfRun();
  const random = createRandom(seed);
  const graph = createGraph(random, PER_TYPE);
  let now = 1000;
  const toy = createToyStore(() => now);
  let folder: string;
  let store: Store;
  let db: Database;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'kiln-links-'));
    const file = join(folder, 'kiln.db');
    store = openSqliteStore(`sqlite:${file}`, { now: () => now });
    db = connect(file);
    for (const type of TYPES) {
      const there = graph.ids.filter(() => random.chance(0.9));
      for (let at = 0; at < there.length; at += 10) {
        now += 5;
        const changes = there.slice(at, at + 10).map((id) => put(id, 0, 'x', graph.entries(), type));
        expect(await store.write(changes)).toEqual(await toy.write(changes));
      }
      now += 5;
      const gone = there.filter(() => random.chance(0.1)).map((id) => deletion(id, 1, type));
      expect(await store.write(gone)).toEqual(await toy.write(gone));
    }
  });
  afterAll(async () => {
    db.close();
    await store.close();
    rmSync(folder, { recursive: true });
  });

  /** The searches of the store, done here and so. */
  function limited(limits: PlanLimits): Here {
    const guard = openQueryInterrupt(db, new Int32Array(1));
    guard.begin(1, Infinity);
    const { find, findMultiType } = openFinders(db, openDictionary(db), guard, limits);
    const one = db.transaction(find);
    const across = db.transaction(findMultiType);
    return { find: async (query) => one.deferred(query), findMultiType: async (query) => across.deferred(query) };
  }

  const page = (): Pick<FindQuery, 'sort' | 'count' | 'include'> => {
    const [sort, count] = [graph.sort(), random.pick([1, 7, 1000])];
    // What comes with which page depends on the order.
    if ((sort.length === 0 && count < 1000) || !random.chance(0.3)) return { sort, count };
    return { sort, count, include: { directives: random.some(3, graph.directive), most: 1000, rounds: 2 } };
  };

  type Walked = [versions: readonly StoredVersion[], total: number | undefined, included: readonly string[]];

  async function walk(isSorted: boolean, search: (after?: string) => Promise<FindPage>): Promise<Walked> {
    const versions: StoredVersion[] = [];
    const included: string[] = [];
    let page = await search();
    const { total } = page;
    for (;;) {
      versions.push(...page.versions);
      if (page.included !== undefined) {
        included.push(...page.included.map((each) => JSON.stringify(each)).sort(), `cut: ${page.cut}`);
      }
      expect(page.total).toBe(total);
      if (page.next === undefined) return [isSorted ? versions : versions.sort(byName), total, included];
      page = await search(page.next);
    }
  }

  const nameOf = ({ type, id }: StoredVersion): string => `${type}/${id}`;
  const byName = (a: StoredVersion, b: StoredVersion): number => compareText(nameOf(a), nameOf(b));

  /** What a search finds on all its pages, without a sort in the order of ids; of the toy store all at once where nothing comes with a page. */
  const walkBoth = <Q extends FindQuery | FindMultiTypeQuery>(
    query: Q,
    search: (on: Here, query: Q) => Promise<FindPage>,
    here: Here,
  ) =>
    Promise.all(
      [here, toy].map((on) => {
        const count = on === here || query.include !== undefined ? query.count : 1000;
        return walk(query.sort.length > 0, (after) =>
          search(on, { ...query, count, ...(after !== undefined && { after }) }),
        );
      }),
    );

  it.each(WAYS)('are found as the toy store finds them, %s', async (_way, limits) => {
    const here = limited(limits);
    for (let n = 0; n < QUERIES; n++) {
      const query: FindQuery = {
        type: random.pick(TYPES),
        where: graph.condition(3),
        ...page(),
        total: 'accurate',
      };
      const what = `seed ${seed}: ${query.type} ${printCondition(query.where)} by ${printSort(query.sort)}`;
      const [found, expected] = await walkBoth(query, (on, asked) => on.find(asked), here);
      expect(found, what).toEqual(expected);
    }
  });

  it.each(WAYS)('are found over several types, %s', async (_way, limits) => {
    const here = limited(limits);
    for (let n = 0; n < QUERIES; n++) {
      const types = [...TYPES, 'Never'].filter(() => random.chance(0.7));
      const query: FindMultiTypeQuery = {
        parts: types.map((type) => ({ type, where: graph.condition(random.below(3)) })),
        ...page(),
        total: 'accurate',
      };
      const parts = query.parts.map(({ type, where }) => `${type} ${printCondition(where)}`);
      const what = `seed ${seed}: ${parts.join('; ')} by ${printSort(query.sort)}`;
      const [found, expected] = await walkBoth(query, (on, asked) => on.findMultiType(asked), here);
      expect(found, what).toEqual(expected);
    }
  });
});
