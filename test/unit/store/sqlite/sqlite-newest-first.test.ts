import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import type { Condition, Ends } from '../../../../runtime/search/query/query.js';
import { openSqliteStore } from '../../../../runtime/store/sqlite/sqlite-store.js';
import type { Store } from '../../../../runtime/store/store.js';
import { date, of, query, token, walk } from '../../../contract/search/behaviour-search-helpers.js';
import { put } from '../../../contract/subject.js';

const TYPE = 'Seen';
const MANY = 3000;
const CODE: Condition = { param: 'code', any: [{ is: 'token', code: 'c' }] };
const idOf = (n: number): string => String(n).padStart(4, '0');
const seen = (n: number) => put(idOf(n), 0, 'x', [of('code', token('c')), of('date', date(n, n))], TYPE);
const when = (...any: Ends[]): Condition => ({ param: 'date', any: any.map((ends) => ({ is: 'date', ...ends })) });
const all = (...conditions: Condition[]): Condition => ({ all: [CODE, ...conditions] });

/** As `ge`: what is after it, or within it. */
const since = (time: number): Condition => when({ high: { gt: time } }, { low: { gte: time }, high: { lte: time } });
const until = (time: number): Condition => when({ low: { lt: time } }, { low: { gte: time }, high: { lte: time } });

describe('what has a code that all have, and a time, on SQLite', () => {
  let store: Store;
  beforeAll(async () => {
    store = openSqliteStore('sqlite::memory:');
    await store.write(Array.from({ length: MANY }, (_, n) => seen(n)));
  });
  afterAll(() => store.close());

  it.each([
    ['since a late time', since(MANY - 300), MANY - 300, MANY],
    ['since an early time', since(100), 100, MANY],
    ['until an early time', until(100), 0, 101],
    ['until a late time', until(MANY - 100), 0, MANY - 99],
  ])('is found by looking at few rows: %s', async (_name, time, from, to) => {
    const asked = query(TYPE, { where: all(time), count: 20 });
    const { examined, returned, driving } = await store.explain(asked);
    expect([returned, driving]).toEqual([20, 'code = "c"']);
    expect(examined).toBeLessThan(200);
    const found = await walk(store, { ...asked, count: 700 });
    expect(found.toSorted()).toEqual(Array.from({ length: to - from }, (_, n) => idOf(from + n)));
  });

  it('between two times is each there once', async () => {
    const found = await walk(store, query(TYPE, { where: all(since(100), until(1100)), count: 300 }));
    expect(found.toSorted()).toEqual(Array.from({ length: 1001 }, (_, n) => idOf(100 + n)));
  });

  it('is neither repeated nor left out while others are written', async () => {
    const pages: string[] = [];
    let next = MANY;
    await walk(store, query(TYPE, { where: all(since(MANY - 300)), count: 7 }), async ({ versions }) => {
      pages.push(...versions.map(({ id }) => id));
      await store.write([seen(next++)]);
    });
    const before = pages.filter((id) => id < idOf(MANY));
    expect(before.toSorted()).toEqual(Array.from({ length: 300 }, (_, n) => idOf(MANY - 300 + n)));
  });
});
