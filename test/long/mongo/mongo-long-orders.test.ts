import { afterAll, beforeAll, expect, it, vi } from 'vitest';

import { openMongoStore } from '../../../runtime/store/mongo/mongo-store.js';
import type { FindQuery, Store } from '../../../runtime/store/store.js';
import { date, key, of, query, slotOf, token, walk } from '../../contract/search/behaviour-search-helpers.js';
import { deletion, put } from '../../contract/subject.js';
import { EVENTUALLY } from '../../eventually.js';
import { describeOnMongod, newDatabase } from '../../mongod/for-tests.js';

/** Of so many one in eight matches: more than are put in order where the index of the order leads to them quickly. */
const [ALL, EACH] = [10_000, 8];

describeOnMongod('sorted pages of more than a thousand matches on MongoDB', () => {
  let store: Store;
  let commands = 0;
  const times = new Map<string, number>();
  const asked = (isDescending: boolean): FindQuery =>
    query('Many', {
      where: { param: 'code', any: [{ is: 'token', code: 'rare' }] },
      sort: [key('date', isDescending, 'when')],
      count: 100,
      total: 'cheap',
    });
  const inOrder = (isDescending: boolean): string[] =>
    [...times].sort(([, a], [, b]) => (isDescending ? b - a : a - b)).map(([id]) => id);
  const toPut = (id: string, version: number, time: number) =>
    put(id, version, 'x', [of('code', token('rare')), of('when', date(time, time))], 'Many');

  beforeAll(async () => {
    store = await openMongoStore(newDatabase(), { slotOf, onCommand: () => commands++ });
    for (let at = 0; at < ALL; at += 500) {
      const changes = Array.from({ length: 500 }, (_, i) => {
        const [id, time] = [String(at + i).padStart(5, '0'), (at + i) * 7919 + 1];
        if ((at + i) % EACH > 0) return put(id, 0, 'x', [of('when', date(time, time))], 'Many');
        times.set(id, time);
        return toPut(id, 0, time);
      });
      await store.write(changes);
    }
  }, 120_000);
  afterAll(() => store.close());

  it.each([false, true])('are of one order, and come from memory (descending: %s)', async (isDescending) => {
    const first = await store.find(asked(isDescending));
    expect(first.total).toBeUndefined();
    // Not before the five seconds are over in which much was written.
    await vi.waitFor(async () => {
      commands = 0;
      expect(await walk(store, asked(isDescending))).toEqual(inOrder(isDescending));
      // The contents of each page, and twice what was written since; by the index of times it would be five commands a page.
      expect(commands).toBeLessThanOrEqual(3 * Math.ceil(times.size / 100) + 5);
    }, EVENTUALLY);
  });

  it('show what was written since', async () => {
    const [changed, deleted, ...rest] = inOrder(false);
    await store.write([toPut(changed!, 1, 1e9), deletion(deleted!, 1, 'Many'), toPut('new', 0, 2e9)]);
    expect(await walk(store, asked(false))).toEqual([...rest, changed, 'new']);
  });
});
