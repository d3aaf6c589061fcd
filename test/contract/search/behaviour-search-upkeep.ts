import { beforeAll, describe, expect, it } from 'vitest';

import type { IndexEntry } from '../../../runtime/indexing/entry.js';
import type { Condition } from '../../../runtime/search/query/query.js';
import type { Store } from '../../../runtime/store/store.js';
import {
  composite,
  date,
  idsOf,
  key,
  number,
  of,
  quantity,
  query,
  reference,
  sharedStore,
  text,
  token,
  uri,
  words,
} from './behaviour-search-helpers.js';
import { squareAt } from './places-generator.js';
import { deletion, put, type Subject } from '../subject.js';

/** That searches find resources by what they are now, and by nothing that they were. */
export function searchUpkeepBehaviour(on: Subject): void {
  const subject = sharedStore(on);
  let store: Store;
  beforeAll(() => {
    ({ store } = subject);
  });

  /** Entries of each kind that say whether the resource is new or old, and conditions for both. */
  const entries = (age: 'old' | 'new'): IndexEntry[] => {
    const n = age === 'old' ? 1 : 2;
    return [
      of('code', token(age)),
      of('name', text(age)),
      of('when', date(n, n)),
      of('count', number(n)),
      of('amount', quantity({ value: n, code: 'kg', canonical: { unit: 'g', value: n * 1000 } })),
      of('subject', reference({ type: 'Patient', id: age, identifier: { value: age } })),
      of('url', uri(`http://${age}`)),
      of('both', composite([token(age)], [number(n)])),
      { kind: 'position', param: 'where', latitude: n, longitude: n },
      ...squareAt(n).map((strip) => ({ kind: 'region' as const, param: 'area', ...strip })),
      of(age, token('x')),
      of('_text', words(`it is ${age}`)),
      of('code', words(`it is ${age}`)),
    ];
  };
  const conditions = (age: 'old' | 'new'): Condition[] => {
    const n = age === 'old' ? 1 : 2;
    const same = { low: { gte: n }, high: { lte: n } };
    return [
      { param: 'code', any: [{ is: 'token', code: age }] },
      { param: 'name', any: [{ is: 'string-contains', folded: age }] },
      { param: 'when', any: [{ is: 'date', ...same }] },
      { param: 'count', any: [{ is: 'number', ...same }] },
      { param: 'amount', any: [{ is: 'quantity', ...same }] },
      { param: 'amount', any: [{ is: 'quantity', canonical: 'g', low: { gte: n * 1000 }, high: { lte: n * 1000 } }] },
      { param: 'subject', any: [{ is: 'reference', id: age }] },
      { param: 'subject', any: [{ is: 'identifier', value: age }] },
      { param: 'url', any: [{ is: 'uri-below', value: `http://${age}` }] },
      { param: 'both', composite: [[[{ is: 'token', code: age }], [{ is: 'number', ...same }]]] },
      { param: 'where', places: [{ is: 'near', latitude: n, longitude: n, distance: 1000 }] },
      { param: 'area', places: [{ is: 'around', latitude: n, longitude: n }] },
      { param: age, present: 'token' },
      { param: '_text', words: { phrase: ['is', age] } },
      { param: 'code', words: { begins: ['it', 'is', age] } },
    ];
  };

  /** Which of the conditions find this resource of a type. */
  async function finders(type: string, age: 'old' | 'new', id: string): Promise<boolean[]> {
    const found: boolean[] = [];
    for (const where of conditions(age)) found.push(idsOf(await store.find(query(type, { where }))).includes(id));
    return found;
  }
  const every = conditions('old').map(() => true);
  const none = conditions('old').map(() => false);

  it('an update is found by what is new, and by nothing that is old', async () => {
    await store.write([put('a', 0, 'x', entries('old'), 'Update'), put('b', 0, 'x', entries('old'), 'Update')]);
    expect(await finders('Update', 'old', 'a')).toEqual(every);
    await store.write([put('a', 1, 'y', entries('new'), 'Update')]);
    expect(await finders('Update', 'old', 'a')).toEqual(none);
    expect(await finders('Update', 'new', 'a')).toEqual(every);
    expect(await finders('Update', 'old', 'b')).toEqual(every);
    const [found] = (await store.find(query('Update', { where: { ids: ['a'] } }))).versions;
    expect(found).toEqual(await store.read('Update', 'a'));
    expect(found).toMatchObject({ version: 2 });
    expect(idsOf(await store.find(query('Update', { sort: [key('number', true, 'count')] })))).toEqual(['a', 'b']);
  });

  it('a deletion is found by nothing, a revival by what it has', async () => {
    const total = async () => (await store.find(query('Deletion', { count: 0, total: 'accurate' }))).total;
    await store.write([put('a', 0, 'x', entries('old'), 'Deletion'), put('b', 0, 'x', [], 'Deletion')]);
    expect(await total()).toBe(2);
    await store.write([deletion('a', 1, 'Deletion')]);
    expect(await total()).toBe(1);
    expect(await finders('Deletion', 'old', 'a')).toEqual(none);
    for (const where of conditions('old')) {
      expect(idsOf(await store.find(query('Deletion', { where: { not: where } })))).toEqual(['b']);
    }
    expect(idsOf(await store.find(query('Deletion', { where: { ids: ['a', 'b'] } })))).toEqual(['b']);
    expect(idsOf(await store.find(query('Deletion', { sort: [key('number', false, 'count')] })))).toEqual(['b']);
    await store.write([put('a', 2, 'y', entries('new'), 'Deletion')]);
    expect(await finders('Deletion', 'old', 'a')).toEqual(none);
    expect(await finders('Deletion', 'new', 'a')).toEqual(every);
    expect(await total()).toBe(2);
  });

  it('a refused write leaves the entries as they were', async () => {
    await store.write([put('a', 0, 'x', entries('old'), 'Refused')]);
    await expect(
      store.write([put('a', 1, 'y', entries('new'), 'Refused'), put('b', 7, 'x', [], 'Refused')]),
    ).rejects.toThrow();
    expect(await finders('Refused', 'old', 'a')).toEqual(every);
    expect(await finders('Refused', 'new', 'a')).toEqual(none);
  });

  /** An empty store, because what is restored must be later than all that is there. */
  const fresh = sharedStore(on);

  it('what is restored is found: its last version alone', async () => {
    const restored = (version: number, age: 'old' | 'new') => {
      const content = { resourceType: 'Restored', id: 'a', meta: { versionId: `${version}` } };
      const lastUpdated = 1000 * version;
      return {
        type: 'Restored',
        id: 'a',
        version,
        lastUpdated,
        json: JSON.stringify(content),
        content,
        ...(age === 'new' && { entries: entries('new') }),
      };
    };
    await fresh.store.restore([restored(1, 'old'), restored(2, 'new')]);
    const found = async (where: Condition) => idsOf(await fresh.store.find(query('Restored', { where })));
    for (const where of conditions('new')) expect(await found(where)).toEqual(['a']);
    for (const where of conditions('old')) expect(await found(where)).toEqual([]);
  });

  describe('reindex', () => {
    it('replaces the entries of what is current, and nothing else', async () => {
      const type = 'Reindex';
      await store.write([put('a', 0, 'x', entries('old'), type), put('b', 0, 'x', entries('old'), type)]);
      const before = await store.read(type, 'a');
      const history = await store.history({ type, count: 10 });
      expect(await store.reindex([{ type, id: 'a', version: 1, entries: entries('new') }])).toBe(1);
      expect(await finders(type, 'old', 'a')).toEqual(none);
      expect(await finders(type, 'new', 'a')).toEqual(every);
      expect(await finders(type, 'old', 'b')).toEqual(every);
      expect(await store.read(type, 'a')).toEqual(before);
      expect((await store.find(query(type, { where: { ids: ['a'] } }))).versions).toEqual([before]);
      expect((await store.history({ type, count: 10 })).versions).toEqual(history.versions);
      expect(idsOf(await store.find(query(type, { sort: [key('number', true, 'count')] })))).toEqual(['a', 'b']);
      // What follows is as if nothing had been.
      await store.write([put('a', 1, 'y', entries('old'), type)]);
      expect(await finders(type, 'old', 'a')).toEqual(every);
      expect(await finders(type, 'new', 'a')).toEqual(none);
      await store.write([deletion('a', 2, type)]);
      expect(await finders(type, 'old', 'a')).toEqual(none);
    });

    it('skips what is not current, deleted, or not there, and counts the rest', async () => {
      const type = 'Skipped';
      await store.write(['a', 'b', 'c', 'd'].map((id) => put(id, 0, 'x', entries('old'), type)));
      await store.write([put('b', 1, 'y', entries('old'), type), deletion('c', 1, type)]);
      const item = (id: string, version: number) => ({ type, id, version, entries: entries('new') });
      const items = [item('a', 1), item('b', 1), item('c', 1), item('c', 2), item('d', 2), item('e', 1)];
      expect(await store.reindex(items)).toBe(1);
      expect(await finders(type, 'new', 'a')).toEqual(every);
      for (const id of ['b', 'd']) {
        expect(await finders(type, 'old', id)).toEqual(every);
        expect(await finders(type, 'new', id)).toEqual(none);
      }
      expect(await finders(type, 'new', 'c')).toEqual(none);
      expect(await store.reindex([])).toBe(0);
    });

    it('takes many at once, and entries to nothing', async () => {
      const type = 'Bulk';
      const ids = Array.from({ length: 300 }, (_, n) => `i${n}`);
      await store.write(ids.map((id) => put(id, 0, 'x', entries('old'), type)));
      expect(await store.reindex(ids.map((id) => ({ type, id, version: 1, entries: [] })))).toBe(300);
      const where = { param: 'code', present: 'token' as const };
      expect((await store.find(query(type, { where, total: 'accurate' }))).total).toBe(0);
      expect((await store.find(query(type, { total: 'accurate' }))).total).toBe(300);
    });
  });
}
