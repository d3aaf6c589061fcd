import { beforeEach, describe, expect, it } from 'vitest';

import type { HistoryPage, HistoryQuery, Store } from '../../../runtime/store/store.js';
import { deletion, put, useStore, type Subject } from '../subject.js';

/** History at its three levels. https://hl7.org/fhir/R5/http.html#history */
export function historyBehaviour(on: Subject): void {
  const subject = useStore(on);
  let store: Store;
  beforeEach(() => {
    store = subject.store;
  });

  const names = (page: Pick<HistoryPage, 'versions'>): string[] =>
    page.versions.map(({ type, id, version }) => `${type === 'Patient' ? '' : `${type}/`}${id}${version}`);
  const all = async (query: Omit<HistoryQuery, 'count'>): Promise<string[]> =>
    names(await store.history({ ...query, count: 100 }));

  /** Times of a writer whose clock the test sets. */
  async function timed(
    steps: readonly (readonly [time: number, ...changes: Parameters<Store['write']>[0][number][]])[],
  ) {
    let time = 0;
    store = await subject.reopen({ now: () => time });
    for (const [at, ...changes] of steps) {
      time = at;
      await store.write(changes);
    }
  }

  it('of nothing is empty', async () => {
    for (const query of [{}, { type: 'Patient' }, { type: 'Patient', id: 'a' }]) {
      expect(await store.history({ ...query, count: 10 })).toMatchObject({ versions: [], total: 0 });
      expect(await store.history({ ...query, at: { from: 0, to: Date.now() }, count: 10 })).toMatchObject({ total: 0 });
    }
  });

  it('is newest first, deletions included, of all, of a type, of an instance', async () => {
    await store.write([put('a', 0), put('b', 0, 'x', [], 'Basic')]);
    await store.write([put('a', 1)]);
    await store.write([deletion('a', 2), put('c', 0)]);
    expect(await all({})).toEqual(['c1', 'a3', 'a2', 'Basic/b1', 'a1']);
    expect(await all({ type: 'Patient' })).toEqual(['c1', 'a3', 'a2', 'a1']);
    expect(await all({ type: 'Patient', id: 'a' })).toEqual(['a3', 'a2', 'a1']);
    expect(await all({ types: ['Basic', 'Patient', 'Unknown'] })).toEqual(['c1', 'a3', 'a2', 'Basic/b1', 'a1']);
    expect(await all({ types: ['Basic'] })).toEqual(['Basic/b1']);
    expect(await all({ types: [] })).toEqual([]);
    const page = await store.history({ type: 'Patient', id: 'a', count: 2 });
    expect(page).toMatchObject({ total: 3, next: expect.any(String) });
    expect(page.versions[0]?.json).toBeUndefined();
    expect(page.versions[1]).toEqual(await store.readVersion('Patient', 'a', 2));
    const counted = await store.history({ count: 0 });
    expect(counted).toEqual({ versions: [], total: 5, complete: expect.any(Number) });
    // A second may have passed.
    expect(counted.complete).toBeGreaterThanOrEqual(page.complete);
  });

  it.each([{}, { type: 'Patient' }, { type: 'Patient', id: 'a' }, { at: { from: 0, to: 8e15 } }])(
    'a walk through %j shows each version once, none that came later, and one total',
    async (scope) => {
      for (let n = 0; n < 7; n++) await store.write([put('a', n)]);
      const seen: string[] = [];
      const totals = new Set<number>();
      const completes = new Set<number>();
      let after: string | undefined;
      let version = 7;
      do {
        const page: HistoryPage = await store.history({
          ...scope,
          count: 3,
          ...(after === undefined ? {} : { after }),
        });
        seen.push(...names(page));
        totals.add(page.total);
        completes.add(page.complete);
        after = page.next;
        await store.write([put('a', version++), put(`new${version}`, 0)]);
      } while (after !== undefined);
      expect(seen).toEqual(['a7', 'a6', 'a5', 'a4', 'a3', 'a2', 'a1']);
      expect([...totals]).toEqual([7]);
      expect(completes.size).toBe(1);
    },
  );

  it.each([1, 9])(
    'a walk through some types, %i of them without versions, is one through these alone',
    async (more) => {
      const types = ['Basic', 'Device', ...Array.from({ length: more }, (_, n) => `None${n}`)];
      const steps = ['Basic', 'Patient', 'Device', 'Patient', 'Device', 'Basic', 'Patient'];
      for (const [n, type] of steps.entries()) await store.write([put(`r${n}`, 0, 'x', [], type)]);
      await store.write([put('r0', 1, 'y', [], 'Basic'), put('r2', 1, 'y', [], 'Device'), deletion('r5', 1, 'Basic')]);
      const expected = ['Basic/r52', 'Device/r22', 'Basic/r02', 'Basic/r51', 'Device/r41', 'Device/r21', 'Basic/r01'];
      for (const at of [undefined, { from: 0, to: 8e15 }]) {
        const seen: string[] = [];
        for (let after: string | undefined, isFirst = true; isFirst || after !== undefined; isFirst = false) {
          const query = { types, count: 2, ...(at && { at }), ...(after !== undefined && { after }) };
          const page: HistoryPage = await store.history(query);
          expect(page.total).toBe(7);
          seen.push(...names(page));
          ({ next: after } = page);
        }
        expect(seen).toEqual(expected);
      }
      expect((await store.history({ types, count: 0 })).total).toBe(7);
    },
  );

  it('_since includes its instant', async () => {
    await timed([
      [1000, put('a', 0)],
      [2000, put('a', 1), put('b', 0)],
      [3000, put('c', 0)],
    ]);
    expect(await all({ since: 2000 })).toEqual(['c1', 'b1', 'a2']);
    expect(await all({ since: 2001 })).toEqual(['c1']);
    expect(await all({ since: 1001, type: 'Patient', id: 'a' })).toEqual(['a2']);
    expect(await all({ since: 3001 })).toEqual([]);
    expect(await all({ since: 0 })).toHaveLength(4);
    expect((await store.history({ since: 2000, count: 1 })).total).toBe(3);
  });

  it('_at shows what was current at some time within the interval', async () => {
    await timed([
      [1000, put('a', 0), put('b', 0)],
      [2000, put('a', 1)],
      [3000, deletion('a', 2), put('c', 0)],
      [4000, put('a', 3)],
    ]);
    const at = (from: number, to = from, more: object = {}) => all({ at: { from, to }, ...more });
    expect(await at(999)).toEqual([]);
    expect(await at(1000)).toEqual(['b1', 'a1']);
    expect(await at(1999)).toEqual(['b1', 'a1']);
    expect(await at(2000)).toEqual(['a2', 'b1']);
    expect(await at(2500, 3000)).toEqual(['c1', 'a3', 'a2', 'b1']);
    expect(await at(2500, 3000, { type: 'Patient', id: 'a' })).toEqual(['a3', 'a2']);
    expect(await at(2500, 3000, { type: 'Patient' })).toHaveLength(4);
    expect(await at(9000)).toEqual(['a4', 'c1', 'b1']);
    const first = await store.history({ at: { from: 2500, to: 3000 }, count: 2 });
    expect(first).toMatchObject({ total: 4 });
    const rest = await store.history({ at: { from: 2500, to: 3000 }, count: 9, after: first.next ?? '' });
    expect(names(rest)).toEqual(['a2', 'b1']);
    expect(rest.total).toBe(4);
  });

  it('says up to when nothing new can appear', async () => {
    const before = Date.now();
    const [one] = await store.write([put('a', 0)]);
    const { complete } = await store.history({ count: 1 });
    // It may lag, but not so much that a poller gets everything over and over.
    expect(complete).toBeGreaterThan(before - 30_000);
    const [two] = await store.write([put('b', 0)]);
    expect(two?.lastUpdated).toBeGreaterThanOrEqual(complete);
    expect(two?.lastUpdated).toBeGreaterThanOrEqual(one?.lastUpdated ?? Infinity);
  });

  it('refuses a page that is none', async () => {
    for (const after of ['', 'x', '1.2.3', '1.2.3.4.!', "1'--"]) {
      await expect(store.history({ count: 1, after })).rejects.toMatchObject({ code: 'parameter-invalid' });
    }
  });

  describe('limits', () => {
    it('a signal stops it', async () => {
      await expect(store.history({ count: 1 }, AbortSignal.abort(new Error('gone')))).rejects.toThrow('gone');
      const controller = new AbortController();
      const asked = store.history({ count: 1 }, controller.signal);
      controller.abort(new Error('left'));
      await expect(asked).rejects.toThrow('left');
      expect(await all({})).toEqual([]);
    });

    it('past its budget it is too costly, and the next goes through', async () => {
      const hasty = await subject.reopen({ queryBudget: 0 });
      await expect(hasty.history({ count: 1 })).rejects.toMatchObject({ code: 'too-costly', status: 503 });
      expect(await all({})).toEqual([]);
    });

    it('large versions fill several pages', async () => {
      for (let n = 0; n < 4; n++) await store.write([put('a', n, 'x'.repeat(7_000_000))]);
      const seen: string[] = [];
      let after: string | undefined;
      do {
        const page = await store.history({ count: 100, ...(after === undefined ? {} : { after }) });
        seen.push(...names(page));
        after = page.next;
      } while (after !== undefined);
      expect(seen).toEqual(['a4', 'a3', 'a2', 'a1']);
    });
  });
}
