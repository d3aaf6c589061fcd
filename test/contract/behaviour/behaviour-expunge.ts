import { beforeEach, expect, it } from 'vitest';

import type { Condition } from '../../../runtime/search/query/query.js';
import { containedType } from '../../../runtime/store/contained-resources.js';
import type { Expunge, Store } from '../../../runtime/store/store.js';
import { of, query, token, walk } from '../search/behaviour-search-helpers.js';
import { deletion, put, useStore, type Subject } from '../subject.js';

/** That versions can be removed for good, and which. */
export function expungeBehaviour(on: Subject): void {
  const subject = useStore(on);
  let store: Store;
  beforeEach(() => {
    store = subject.store;
  });

  const entries = [of('code', token('x'))];
  /** All versions that are there: `Patient/a/1`. */
  const versions = async (): Promise<string[]> => {
    const { versions: all } = await store.history({ count: 1000 });
    return all.map(({ type, id, version }) => `${type}/${id}/${version}`).sort();
  };
  const expunge = async (asked: Partial<Expunge>): Promise<number> => {
    const { count } = await store.expunge({ limit: 1000, ...asked });
    return count;
  };

  beforeEach(async () => {
    for (let version = 0; version < 3; version++) await store.write([put('a', version, `${version}`, entries)]);
    await store.write([put('b', 0, 'b', entries), put('c', 0, 'c', [], 'Basic')]);
    for (let version = 0; version < 2; version++) await store.write([put('gone', version, 'x', entries)]);
    await store.write([deletion('gone', 2)]);
    await store.write([put('old', 0, 'x', [], 'Basic')]);
    await store.write([deletion('old', 1, 'Basic')]);
  });
  const LIVE = ['Basic/c/1', 'Patient/a/1', 'Patient/a/2', 'Patient/a/3', 'Patient/b/1'];
  const GONE = ['Patient/gone/1', 'Patient/gone/2', 'Patient/gone/3'];

  it('deleted resources with all their versions, as if they had never been', async () => {
    expect(await expunge({ deleted: true, type: 'Patient' })).toBe(3);
    expect(await versions()).toEqual(['Basic/old/1', 'Basic/old/2', ...LIVE].sort());
    expect(await store.read('Patient', 'gone')).toBeUndefined();
    expect(await store.readVersion('Patient', 'gone', 1)).toBeUndefined();
    const [anew] = await store.write([put('gone', 0, 'new')]);
    expect(anew?.version).toBe(1);
    expect(await expunge({ deleted: true })).toBe(2);
    expect(await expunge({ deleted: true })).toBe(0);
  });

  it('and totals of histories that were asked for before follow, whatever comes and goes in between', async () => {
    const scopes = [{}, { type: 'Patient' }, { type: 'Basic' }, { types: ['Patient', 'Basic'] }, { type: 'Patient', id: 'a' }]; // prettier-ignore
    const expectTrueTotals = async (): Promise<void> => {
      for (const scope of scopes) {
        const { versions: all, total } = await store.history({ ...scope, count: 1000 });
        expect([scope, total]).toEqual([scope, all.length]);
        expect(await store.history({ ...scope, count: 1 })).toMatchObject({ total });
      }
    };
    await expectTrueTotals();
    const steps = [
      () => store.write([put('a', 3, '4', entries), put('d', 0, 'd')]),
      () => expunge({ previous: true, type: 'Patient', limit: 2 }),
      // As many as were removed.
      () => store.write([put('a', 4, '5', entries), put('e', 0, 'e', [], 'Basic')]),
      () => expunge({ type: 'Patient', id: 'a', version: 4 }),
      () => expunge({ type: 'Patient', id: 'a', version: 40 }),
      () => store.write([deletion('d', 1)]),
      () => expunge({ deleted: true, previous: true, current: true }),
      () => store.write([put('a', 0, 'again', entries)]),
    ];
    for (const step of steps) {
      await step();
      await expectTrueTotals();
    }
  });

  it('past versions of what lives, and of nothing else', async () => {
    expect(await expunge({ previous: true })).toBe(2);
    expect(await versions()).toEqual([...GONE, 'Basic/c/1', 'Basic/old/1', 'Basic/old/2', 'Patient/a/3', 'Patient/b/1'].sort()); // prettier-ignore
    expect(await store.readVersion('Patient', 'a', 1)).toBeUndefined();
    expect((await store.read('Patient', 'a'))?.version).toBe(3);
    const [next] = await store.write([put('a', 3, 'next')]);
    expect(next?.version).toBe(4);
    expect(await expunge({ previous: true, type: 'Patient', id: 'b' })).toBe(0);
    expect(await expunge({ previous: true, type: 'Patient', id: 'a' })).toBe(1);
  });

  it('one version, but never the current one of what lives', async () => {
    expect(await expunge({ type: 'Patient', id: 'a', version: 2 })).toBe(1);
    expect(await expunge({ type: 'Patient', id: 'a', version: 2 })).toBe(0);
    expect(await expunge({ type: 'Patient', id: 'a', version: 3 })).toBe(0);
    expect((await versions()).filter((each) => each.startsWith('Patient/a'))).toEqual(['Patient/a/1', 'Patient/a/3']);
  });

  it('stops at the limit: first the past of deleted resources, then their deletions, then what others were', async () => {
    const asked = { deleted: true, previous: true, type: 'Patient' };
    expect(await expunge({ ...asked, limit: 1 })).toBe(1);
    expect(await versions()).not.toContain('Patient/gone/1');
    expect(await expunge({ ...asked, limit: 2 })).toBe(2);
    expect((await versions()).filter((each) => each.startsWith('Patient'))).toEqual(LIVE.slice(1));
    expect(await expunge({ ...asked, limit: 1 })).toBe(1);
    expect(await expunge({ ...asked, limit: 5 })).toBe(1);
    expect(await expunge(asked)).toBe(0);
  });

  it('everything: no version, no index entry and nothing that was within is left', async () => {
    const contained = [{ type: 'Drug', id: 'm', entries: [of('code', token('inside'))] }];
    await store.write([{ ...put('order', 0, 'x', entries, 'Order'), contained }]);
    const inside: Condition = { param: 'code', any: [{ is: 'token', code: 'inside' }] };
    expect(await walk(store, query(containedType('Drug'), { where: inside }))).toEqual(['Order/order#m']);
    const all = { deleted: true, previous: true, current: true };
    const { count, reported } = await store.expunge({ ...all, limit: 1000, report: 'Basic' });
    expect(count).toBe(11);
    expect(reported.map(({ id, version }) => `${id}/${version}`).sort()).toEqual(['c/1', 'old/1', 'old/2']);
    expect(reported.find(({ id }) => id === 'c')?.json).toContain('"c"');
    expect(await versions()).toEqual([]);
    expect(await store.counts()).toEqual(new Map());
    const where: Condition = { param: 'code', any: [{ is: 'token', code: 'x' }] };
    for (const type of ['Patient', 'Order']) expect(await walk(store, query(type, { where }))).toEqual([]);
    expect(await walk(store, query(containedType('Drug'), { where: inside }))).toEqual([]);
    expect((await store.scan(undefined, 10)).versions).toEqual([]);
    expect(await expunge(all)).toBe(0);
    if (on.isShared) expect((await (await subject.reopen()).history({ count: 10 })).versions).toEqual([]);
  });

  it('while others write: their versions stay, and the numbers go on', async () => {
    const writer = (async () => {
      for (let version = 3; version < 20; version++) await store.write([put('a', version, `${version}`, entries)]);
    })();
    let removed = 0;
    for (let i = 0; i < 10; i++) removed += await expunge({ previous: true, type: 'Patient', id: 'a', limit: 3 });
    await writer;
    while ((await expunge({ previous: true, limit: 5 })) > 0);
    expect(removed).toBeLessThan(20);
    expect((await store.read('Patient', 'a'))?.version).toBe(20);
    expect((await versions()).filter((each) => each.startsWith('Patient/a'))).toEqual(['Patient/a/20']);
  });
}
