import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import type { IndexEntry } from '../../../../runtime/indexing/entry.js';
import { openSqliteStore } from '../../../../runtime/store/sqlite/sqlite-store.js';
import type { FindPage, FindQuery, Store } from '../../../../runtime/store/store.js';
import {
  date,
  idsOf,
  key,
  of,
  query,
  reference,
  text,
  token,
  walk,
} from '../../../contract/search/behaviour-search-helpers.js';
import { deletion, put } from '../../../contract/subject.js';

const CODE = { param: 'code', any: [{ is: 'token' as const, system: 's', code: 'c' }] };

/** Times that are no order of ids; some have several, some none. */
const timesOf = (n: number): readonly number[] =>
  n % 50 === 7 ? [] : n % 10 === 3 ? [(n * 37) % 211, (n * 53) % 307] : [(n * 37) % 211];
const idOf = (n: number): string => String(n).padStart(4, '0');
const entriesOf = (times: readonly number[], ...more: IndexEntry[]): IndexEntry[] => [
  of('code', token('c', 's')),
  ...times.map((time) => of('date', date(time, time))),
  ...more,
];

/** Ids in the order of their least or greatest time, those without one last; what is alike in the order in which it was written. */
function inOrder(all: ReadonlyMap<string, readonly number[]>, isDescending: boolean): string[] {
  const best = (id: string): number => {
    const times = all.get(id)!;
    if (times.length === 0) return Infinity;
    return isDescending ? -Math.max(...times) : Math.min(...times);
  };
  return [...all.keys()].sort((a, b) => (best(a) === best(b) ? 0 : best(a) < best(b) ? -1 : 1));
}

describe.each([
  ['in the order of ids', false, 500],
  ['in another order than that of ids', true, 500],
  // Of so many not all are put in order for a page: the index of times is walked.
  ['in the order of ids, and many', false, 2500],
  ['in another order than that of ids, and many', true, 2500],
])('sorted pages on SQLite, written %s', (_name, isUnordered, many) => {
  let folder: string;
  let store: Store;
  let all: Map<string, readonly number[]>;
  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'kiln-orders-'));
    store = openSqliteStore(`sqlite:${join(folder, 'kiln.db')}`);
    const written = Array.from({ length: many }, (_, n) => [idOf(n), timesOf(n)] as const);
    if (isUnordered) written.push(...written.splice(0, many / 2));
    all = new Map(written);
    const puts = written.map(([id, times]) => put(id, 0, 'x', entriesOf(times), 'Seen'));
    await store.write([...puts, put('other', 0, 'x', [of('word', text('w'))], 'Seen')]);
  });
  afterEach(async () => {
    await store.close();
    rmSync(folder, { recursive: true });
  });

  const asked = (isDescending: boolean, count: number, more: Partial<FindQuery> = {}): FindQuery =>
    query('Seen', { where: CODE, sort: [key('date', isDescending, 'date')], count, ...more });

  it.each([false, true])('are of one order, whatever their sizes (descending: %s)', async (isDescending) => {
    const expected = inOrder(all, isDescending);
    for (const count of [7, 20, 90, 20]) expect(await walk(store, asked(isDescending, count))).toEqual(expected);
    // The first again, and one from the middle of the walk.
    const first = await store.find(asked(isDescending, 30));
    const third = await store.find(asked(isDescending, 30, { after: (await second(first)).next! }));
    expect(idsOf(first)).toEqual(expected.slice(0, 30));
    expect(idsOf(third)).toEqual(expected.slice(60, 90));

    async function second({ next }: FindPage): Promise<FindPage> {
      return store.find(asked(isDescending, 30, { after: next! }));
    }
  });

  it.each([false, true])('are in the order of ids, whatever their sizes (descending: %s)', async (isDescending) => {
    const expected = [...all.keys()].sort();
    if (isDescending) expected.reverse();
    const sort = [key('id', isDescending, '_id')];
    for (const count of [7, 20, 90, 20]) expect(await walk(store, asked(false, count, { sort }))).toEqual(expected);
    const { total } = await store.find(asked(false, 20, { sort, total: 'accurate' }));
    expect(total).toBe(many);
  });

  it.each(['cheap', 'accurate', 'none'] as const)('have the same total each time: %s', async (total) => {
    const where = { all: [CODE, { not: { param: 'word', any: [{ is: 'string-contains' as const, folded: 'w' }] } }] };
    for (const each of [CODE, where]) {
      for (let time = 0; time < 3; time++) {
        const page = await store.find(asked(true, 20, { where: each, total }));
        expect(page.total).toBe(total === 'none' || (total === 'cheap' && many > 1000) ? undefined : many);
      }
    }
  });

  it('show what was written after the page before: a change, a deletion, and what is new', async () => {
    const [changed, deleted] = ['0450', '0451'];
    const count = 20;
    let page = await store.find(asked(false, count));
    page = await store.find(asked(false, count, { after: page.next! }));
    const seen = idsOf(await store.find(asked(false, count))).concat(idsOf(page));
    await store.write([
      put(changed, 1, 'y', entriesOf([5000]), 'Seen'),
      deletion(deleted, 1, 'Seen'),
      put('new', 0, 'x', entriesOf([4999]), 'Seen'),
    ]);
    all.set(changed, [5000]).set('new', [4999]).delete(deleted);
    const rest: string[] = [];
    for (let next = page.next; next !== undefined; next = page.next) {
      page = await store.find(asked(false, count, { after: next }));
      rest.push(...idsOf(page));
    }
    const isLeft = (id: string): boolean => !seen.includes(id);
    expect(rest).toEqual(inOrder(all, false).filter(isLeft));
    expect(rest.slice(0, -10).length).toBeGreaterThan(many - 100);
  });
});

describe('totals on SQLite', () => {
  const WELL_OVER = 1200;
  let folder: string;
  let stores: Store[];
  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'kiln-totals-'));
    stores = [1, 2].map(() => openSqliteStore(`sqlite:${join(folder, 'kiln.db')}`));
    const puts = Array.from({ length: WELL_OVER }, (_, n) => {
      return put(idOf(n), 0, 'x', [of('code', token('c', 's')), of('kind', token(n < 900 ? 'few' : 'none'))], 'Seen');
    });
    await stores[0]!.write(puts);
  });
  afterEach(async () => {
    for (const store of stores) await store.close();
    rmSync(folder, { recursive: true });
  });

  const FEW = { param: 'kind', any: [{ is: 'token' as const, code: 'few' }] };
  const totalOf = async (where: FindQuery['where'], total: FindQuery['total'], count: number): Promise<unknown> =>
    (await stores[0]!.find(query('Seen', { where, total, count }))).total;

  it.each([0, 20])('are the same however often and in whatever way they are asked for, pages of %s', async (count) => {
    for (const where of [CODE, { all: [CODE, FEW] }]) {
      const all = where === CODE ? WELL_OVER : 900;
      for (const total of ['cheap', 'accurate', 'cheap', 'accurate', 'none', 'cheap'] as const) {
        // More than a thousand are no cheap total, nor hundreds of which each has to be asked for something else.
        const isCheap = where !== CODE ? all <= 250 : all <= 1000;
        const expected = total === 'none' || (total === 'cheap' && !isCheap) ? undefined : all;
        expect(await totalOf(where, total, count), `${total} of ${all}`).toBe(expected);
      }
    }
  });

  it.each([0, 1])('count what this store and what another one wrote since', async (writer) => {
    for (const [n, written] of [WELL_OVER, WELL_OVER + 1].entries()) {
      expect(await totalOf(CODE, 'accurate', 0)).toBe(WELL_OVER + n);
      expect(await totalOf(FEW, 'cheap', 20)).toBe(900 + n);
      const entries = [of('code', token('c', 's')), of('kind', token('few'))];
      await stores[writer]!.write([put(idOf(written), 0, 'x', entries, 'Seen')]);
    }
    const firstOf = async (code: string): Promise<readonly string[]> => {
      const who = {
        param: 'next',
        chain: [{ type: 'Seen', where: { param: 'kind', any: [{ is: 'token' as const, code }] } }],
      };
      return [...idsOf(await stores[0]!.find(query('Seen', { where: FEW, count: 2 }))), ...idsOf(await stores[0]!.find(query('Seen', { where: who, count: 2 })))]; // prettier-ignore
    };
    expect(await firstOf('rare')).toEqual([idOf(0), idOf(1)]);
    await stores[writer]!.write([
      put('a', 0, 'x', [of('next', reference({ type: 'Seen', id: 'b' }))], 'Seen'),
      put('b', 0, 'x', [of('kind', token('rare'))], 'Seen'),
    ]);
    expect(await firstOf('rare')).toEqual([idOf(0), idOf(1), 'a']);
    await stores[writer]!.write([put('b', 1, 'x', [], 'Seen'), deletion(idOf(1), 1, 'Seen')]);
    expect(await firstOf('rare')).toEqual([idOf(0), idOf(2)]);
    await stores[writer]!.write([deletion(idOf(0), 1, 'Seen'), deletion(idOf(WELL_OVER), 1, 'Seen')]);
    expect(await totalOf(CODE, 'accurate', 0)).toBe(WELL_OVER - 1);
    expect(await totalOf(FEW, 'cheap', 20)).toBe(899);
  });
});
