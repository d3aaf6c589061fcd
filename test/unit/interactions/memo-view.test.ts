import { describe, expect, it } from 'vitest';

import { openBodyRoom } from '../../../runtime/interactions/bundle/body-budget.js';
import { MAX_FOUND } from '../../../runtime/interactions/bundle/drafts/criterion-walk.js';
import { cachingView } from '../../../runtime/interactions/bundle/drafts/caching-view.js';
import { overlay } from '../../../runtime/interactions/bundle/drafts/overlay.js';
import type { Condition } from '../../../runtime/search/query/query.js';
import type { FindPage, FindQuery, StoredVersion } from '../../../runtime/store/store.js';

const BODY = '{"resourceType":"T"}';

/** A store in which every search finds the same `size` resources. */
function crowd(size: number) {
  const id = (n: number): string => `r${String(n).padStart(7, '0')}`;
  const version = (n: number): StoredVersion => ({ type: 'T', id: id(n), version: 1, lastUpdated: 0, json: BODY });
  const seen = { shown: 0, searches: 0, read: 0 };
  const store = {
    read: () => Promise.resolve(undefined),
    readMany: (keys: readonly unknown[]) => Promise.resolve(keys.map((_, n) => version(n))),
    readVersion: (_type: string, of: string) => {
      seen.read++;
      return Promise.resolve(version(Number(of.slice(1))));
    },
    find({ count, after = '0' }: FindQuery): Promise<FindPage> {
      const from = Number(after);
      const to = Math.min(size, from + count);
      seen.shown += to - from;
      seen.searches++;
      const versions = Array.from({ length: to - from }, (_, n) => version(from + n));
      return Promise.resolve({ versions, complete: 0, ...(to < size && { next: String(to) }) });
    },
  };
  return { store, seen, id };
}

const where = (code: string): Condition => ({ param: 'p', any: [{ is: 'token', code }] });
const pace = (): undefined => undefined;

describe('what a transaction remembers of a broad criterion', () => {
  it('is asked of the store once, past what the Bundle deletes', async () => {
    const { store, seen, id } = crowd(2500);
    const view = overlay(await cachingView(store, []), pace);
    for (let n = 0; n < 2500; n++) view.remove('T', id(n));
    const answers = [];
    for (let n = 0; n < 2500; n++) answers.push(await view.match('T', where('broad'), 2));
    expect(answers.every(({ found }) => found.length === 0)).toBe(true);
    expect(new Set(answers.map(({ precondition: guard }) => guard)).size).toBe(1);
    expect(answers[0]?.precondition.found).toHaveLength(2500);
    expect(seen.shown).toBe(2500);
    expect(seen.searches).toBeLessThan(20);
  });

  it('goes on where the Bundle deletes more', async () => {
    const { store, seen, id } = crowd(1000);
    const view = overlay(await cachingView(store, []), pace);
    for (let n = 0; n < 999; n++) {
      expect((await view.match('T', where('broad'), 2)).found.map((each) => each.id)).toEqual([id(n), id(n + 1)]);
      view.remove('T', id(n));
    }
    const last = await view.match('T', where('broad'), 2);
    expect(last.found.map((each) => each.id)).toEqual([id(999)]);
    expect(last.precondition.found).toHaveLength(1000);
    expect(seen.shown).toBe(1000);
  });

  it('has bodies of the first two only, and reads others again', async () => {
    const { store, seen } = crowd(1000);
    const memo = await cachingView(store, []);
    const { found } = await memo.match('T', where('broad'), 1000);
    expect(found.filter(({ json }) => json === BODY)).toHaveLength(2);
    expect(found.every(({ json }) => json !== undefined)).toBe(true);
    expect(await memo.whole(found[0]!)).toBe(found[0]);
    expect(seen.read).toBe(0);
    expect(await memo.whole(found[500]!)).toEqual({ ...found[500], json: BODY });
  });

  it('has no bodies of what is only deleted', async () => {
    const { store } = crowd(1);
    const keys = [
      { type: 'T', id: 'gone', isWhole: false },
      { type: 'T', id: 'stays', isWhole: true },
    ];
    const memo = await cachingView(store, keys);
    expect([(await memo.read('T', 'gone'))?.json, (await memo.read('T', 'stays'))?.json]).toEqual(['', BODY]);
  });

  it('ends where many criteria find many', async () => {
    const { store, seen, id } = crowd(1000);
    const view = overlay(await cachingView(store, []), pace);
    for (let n = 0; n < 1000; n++) view.remove('T', id(n));
    const ask = async (): Promise<void> => {
      for (let n = 0; n < 2500; n++) await view.match('T', where(`c${n}`), 2);
    };
    await expect(ask()).rejects.toMatchObject({ code: 'too-costly' });
    expect(seen.shown).toBeLessThan(MAX_FOUND + 1000);
  });

  it('asks for nothing more when nobody waits any more', async () => {
    const { store, seen } = crowd(1);
    const end = new AbortController();
    end.abort();
    await expect(cachingView(store, [{ type: 'T', id: 'a', isWhole: true }], end.signal)).rejects.toMatchObject({
      code: 'store-busy',
    });
    expect(seen.searches).toBe(0);
  });
});

describe('the room for bodies', () => {
  it('takes what fits', () => {
    const { store } = crowd(1);
    const room = openBodyRoom(store, 10);
    const version = (json: string): StoredVersion => ({ type: 'T', id: 'a', version: 1, lastUpdated: 0, json });
    expect(['123456', '123456', '1234'].map((json) => room.keep(version(json)).json)).toEqual(['123456', '', '1234']);
    const { json: _json, ...deletion } = version('');
    expect(room.keep(deletion)).toBe(deletion);
  });
});
