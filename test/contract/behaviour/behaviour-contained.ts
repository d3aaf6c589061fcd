import { beforeEach, expect, it } from 'vitest';

import type { Contained } from '../../../runtime/indexing/contained.js';
import { localParam } from '../../../runtime/indexing/parameter-kinds.js';
import { CONTAINED, containedType } from '../../../runtime/store/contained-resources.js';
import type { IndexEntry } from '../../../runtime/indexing/entry.js';
import type { Condition } from '../../../runtime/search/query/query.js';
import { PreconditionConflict, VersionConflict, type Put, type Store } from '../../../runtime/store/store.js';
import { idsOf, key, of, query, reference, text, token, uri, walk, words } from '../search/behaviour-search-helpers.js';
import { deletion, put, useStore, type Subject } from '../subject.js';

/** That what is within resources is found as it is in their current versions, and is nowhere seen as a resource. */
export function containedBehaviour(on: Subject): void {
  const subject = useStore(on);
  let store: Store;
  beforeEach(() => {
    store = subject.store;
  });

  const within = (id: string, code: string, more: readonly IndexEntry[] = [], type = 'Drug'): Contained => ({
    type,
    id,
    entries: [of('code', token(code)), of('name', text(`name ${code}`)), ...more],
  });
  const order = (id: string, expected: number, contained: readonly Contained[], more: Partial<Put> = {}): Put => ({
    ...put(id, expected, `order ${id} ${expected}`, [of('state', token('open'))], 'Order'),
    contained,
    ...more,
  });
  const code = (value: string): Condition => ({ param: 'code', any: [{ is: 'token', code: value }] });
  const containing = (where: Condition, type = 'Drug'): Condition => ({
    has: { type: containedType(type), param: CONTAINED.container, where },
  });
  const members = async (where: Condition, type = 'Drug'): Promise<string[]> =>
    walk(store, query(containedType(type), { where, count: 2 }));
  const orders = async (where: Condition): Promise<string[]> =>
    walk(store, query('Order', { where: containing(where), count: 2 }));

  it('it is found by its entries, and shown as the current version of its container', async () => {
    await store.write([order('a', 0, [within('m1', 'x'), within('m2', 'y')]), order('b', 0, [within('m1', 'x')])]);
    await store.write([order('c', 0, [])]);
    const page = await store.find(query(containedType('Drug'), { where: code('x'), total: 'accurate' }));
    expect(idsOf(page)).toEqual(['Order/a#m1', 'Order/b#m1']);
    expect(page.total).toBe(2);
    const container = await store.read('Order', 'a');
    expect(page.versions[0]).toEqual({ ...container, type: containedType('Drug'), id: 'Order/a#m1' });
    expect(await orders(code('x'))).toEqual(['a', 'b']);
    expect(await orders(code('y'))).toEqual(['a']);
    expect(await orders({ all: [] })).toEqual(['a', 'b']);
    expect(await orders({ all: [code('x'), code('y')] })).toEqual([]);
    expect(await walk(store, query('Order', { where: { not: containing(code('y')) } }))).toEqual(['b', 'c']);
    expect(await members({ param: CONTAINED.id, any: [{ is: 'token', code: 'm2' }] })).toEqual(['Order/a#m2']);
    expect(await members({ param: CONTAINED.in, any: [{ is: 'token', code: 'Other' }] })).toEqual([]);
    const inB: Condition = { param: CONTAINED.container, chain: [{ type: 'Order', where: { ids: ['b'] } }] };
    expect(await members({ all: [code('x'), inB] })).toEqual(['Order/b#m1']);
    expect(await members({ not: code('x') })).toEqual(['Order/a#m2']);
    expect(await members({ param: 'name', any: [{ is: 'string-begins', folded: 'name' }] })).toHaveLength(3);
  });

  it('nothing takes it for a resource', async () => {
    const more = [of('url', uri('http://x/1')), of('_content', words('within'))];
    await store.write([order('a', 0, [within('m1', 'x', more)]), put('d', 0, 'x', [of('code', token('x'))], 'Drug')]);
    await store.write([put('r', 0, 'x', [of('ref', reference({ url: 'http://x/1' }))], 'Reader')]);
    expect(idsOf(await store.find(query('Drug', { where: code('x') })))).toEqual(['d']);
    expect([...(await store.counts())].sort()).toEqual([
      ['Drug', 1],
      ['Order', 1],
      ['Reader', 1],
    ]);
    const names = ({ versions }: { versions: readonly { type: string; id: string }[] }) =>
      versions.map(({ type, id }) => `${type}/${id}`).sort();
    const three = ['Drug/d', 'Order/a', 'Reader/r'];
    expect(names(await store.scan(undefined, 100))).toEqual(three);
    const history = await store.history({ count: 100 });
    expect([names(history), history.total]).toEqual([three, 3]);
    const some = await store.history({ count: 100, types: ['Drug', 'Order'] });
    expect([names(some), some.total]).toEqual([['Drug/d', 'Order/a'], 2]);
    const directive = { isReverse: false, source: 'Reader', params: ['ref'], iterates: false };
    const include = { directives: [directive], most: 10, rounds: 1 };
    expect((await store.find(query('Reader', { include }))).included).toEqual([]);
    expect(await store.read('Order', 'a')).toMatchObject({ version: 1 });
  });

  it('nothing that looks at all types, or into an index, takes it for a resource', async () => {
    const more = [of('_content', words('within')), of('of', reference({ type: 'Drug', id: 'd' }))];
    const contained = Array.from({ length: 5 }, (_, n) => within(`m${n}`, 'x', more));
    const [first] = await store.write([order('a', 0, contained), put('d', 0, 'x', [], 'Drug')]);
    const [last] = await store.write([order('a', 1, contained)]);
    const since = first!.lastUpdated;
    const at = { from: since, to: last!.lastUpdated };
    expect((await store.history({ count: 100, since })).total).toBe(3);
    expect((await store.history({ count: 0, since: last!.lastUpdated + 1 })).total).toBe(0);
    for (const types of [undefined, ['Drug', 'Order']]) {
      const history = await store.history({ count: 100, at, ...(types && { types }) });
      expect([history.versions.length, history.total]).toEqual([3, 3]);
    }
    expect((await store.history({ count: 100, type: 'Drug' })).total).toBe(1);
    const updated: Condition = { updated: [{ low: { gte: since } }] };
    const text: Condition = { param: '_content', words: { phrase: ['within'] } };
    const referring: Condition = { has: { type: 'Order', param: 'of', where: { all: [] } } };
    const findAll = async (where: Condition): Promise<string[]> => {
      const parts = ['Drug', 'Order'].map((type) => ({ type, where }));
      const page = await store.findMultiType({ parts, sort: [], count: 100, total: 'accurate' });
      expect(page.total).toBe(page.versions.length);
      return page.versions.map(({ type, id }) => `${type}/${id}`);
    };
    expect(await findAll(updated)).toEqual(['Drug/d', 'Order/a']);
    expect(await findAll({ not: code('y') })).toEqual(['Drug/d', 'Order/a']);
    for (const where of [text, referring, code('x'), { ids: ['m1', 'Order/a#m1', 'a#m1'] }]) {
      expect(await findAll(where)).toEqual([]);
    }
    const directive = { isReverse: true, source: 'Drug', params: ['of'], iterates: false };
    const include = { directives: [directive], most: 10, rounds: 1 };
    expect((await store.find(query('Drug', { include }))).included).toEqual([]);
    expect(await store.readMany([{ type: 'Drug', id: 'm1' }, { type: 'Drug', id: 'Order/a#m1' }])).toEqual([undefined, undefined]); // prettier-ignore
    // What must find nothing for a write to be done.
    await store.write([put('new', 0, 'x', [], 'Drug')], [{ type: 'Drug', where: code('x'), found: [] }]);
  });

  it('each version has its own, and a deletion none', async () => {
    await store.write([order('a', 0, [within('m1', 'x'), within('m2', 'y'), within('m3', 'z', [], 'Tool')])]);
    await store.write([order('a', 1, [within('m2', 'x'), within('m4', 'y')])]);
    expect([await members(code('x')), await members(code('y'))]).toEqual([['Order/a#m2'], ['Order/a#m4']]);
    expect(await members({ all: [] }, 'Tool')).toEqual([]);
    const [found] = (await store.find(query(containedType('Drug')))).versions;
    expect(found).toMatchObject({ version: 2, json: expect.stringContaining('order a 1') as string });
    await store.write([deletion('a', 2, 'Order')]);
    expect([await members({ all: [] }), await orders({ all: [] })]).toEqual([[], []]);
    await store.write([order('a', 3, [within('m1', 'x')])]);
    expect(await members({ all: [] })).toEqual(['Order/a#m1']);
    await store.write([put('a', 4, 'nothing within', [], 'Order')]);
    expect([await members({ all: [] }), await orders({ all: [] })]).toEqual([[], []]);
  });

  it('of several changes of one resource in a write the last counts', async () => {
    await store.write([order('a', 0, [within('m1', 'x')]), order('b', 0, [within('m1', 'x')])]);
    await store.write([
      order('a', 1, [within('m2', 'x')]),
      order('a', 2, [within('m3', 'x')]),
      order('b', 1, [within('m2', 'x')]),
      deletion('b', 2, 'Order'),
      order('c', 0, [within('m1', 'x')]),
      order('c', 1, []),
    ]);
    expect(await members(code('x'))).toEqual(['Order/a#m3']);
    await store.write([order('c', 2, [within('m9', 'x')])]);
    expect(await orders(code('x'))).toEqual(['a', 'c']);
  });

  it('a write that is refused leaves it as it was', async () => {
    await store.write([order('a', 0, [within('m1', 'x')])]);
    await expect(store.write([order('a', 0, [within('m2', 'x')])])).rejects.toThrow(VersionConflict);
    await expect(store.write([order('a', 1, []), order('b', 5, [])])).rejects.toThrow(VersionConflict);
    const open: Condition = { param: 'state', any: [{ is: 'token', code: 'open' }] };
    const guard = { type: 'Order', where: open, found: [] };
    await expect(store.write([order('a', 1, [])], [guard])).rejects.toThrow(PreconditionConflict);
    expect(await members({ all: [] })).toEqual(['Order/a#m1']);
  });

  it('reindexing replaces it, of the current version alone', async () => {
    await store.write([order('a', 0, [within('m1', 'x')]), order('b', 0, []), order('c', 0, [within('m1', 'x')])]);
    const item = { type: 'Order', version: 1, entries: [of('state', token('new'))] };
    const renewed = await store.reindex([
      { ...item, id: 'a', contained: [within('m2', 'new')] },
      { ...item, id: 'b', contained: [within('m1', 'new')] },
      { ...item, id: 'c' },
      { ...item, id: 'd', contained: [within('m1', 'new')] },
    ]);
    expect(renewed).toBe(3);
    expect(await members({ all: [] })).toEqual(['Order/a#m2', 'Order/b#m1']);
    expect(await orders(code('new'))).toEqual(['a', 'b']);
    expect(await store.read('Order', 'a')).toMatchObject({ version: 1 });
    expect((await store.history({ count: 10 })).total).toBe(3);
    await store.write([order('a', 1, [within('m3', 'y')])]);
    await store.reindex([{ ...item, id: 'a', contained: [within('m2', 'old')] }]);
    expect(await members({ all: [] })).toEqual(['Order/a#m3', 'Order/b#m1']);
  });

  it('what is restored has that of its last version', async () => {
    const version = (id: string, number: number, contained?: readonly Contained[]) => {
      const content = { resourceType: 'Order', id, meta: { versionId: `${number}` } };
      const head = { type: 'Order', id, version: number, lastUpdated: 1000 * number };
      return { ...head, json: JSON.stringify(content), content, ...(contained && { entries: [], contained }) };
    };
    await store.restore([version('a', 1, [within('m1', 'x')]), version('b', 1, [within('m1', 'x')])]);
    await store.restore([version('a', 2), version('a', 3, [within('m2', 'x'), within('m3', 'y')])]);
    const { json: _json, content: _content, ...gone } = version('b', 4);
    await store.restore([{ ...gone, version: 2 }]);
    expect(await members({ all: [] })).toEqual(['Order/a#m2', 'Order/a#m3']);
    expect(await orders(code('x'))).toEqual(['a']);
    await store.write([order('a', 3, [within('m1', 'z')])]);
    expect(await members({ all: [] })).toEqual(['Order/a#m1']);
  });

  it('references to it lead there, from its container and from others in that, and nothing else finds them', async () => {
    const local = (param: string, fragment: string): IndexEntry => ({
      kind: 'reference',
      param: localParam(param),
      fragment,
    });
    const chain = (where: Condition, param = 'drug', type = 'Drug'): Condition => ({
      some: [
        { param, chain: [{ type, where }] },
        { param: localParam(param), chain: [{ type: containedType(type), where }] },
      ],
    });
    const find = async (where: Condition) => walk(store, query('Order', { where, count: 2 }));
    const named = (id: string, expected: number, fragment: string, contained: readonly Contained[]) =>
      order(id, expected, contained, { entries: [of('state', token('open')), local('drug', fragment)] });
    await store.write([
      named('a', 0, 'm1', [within('m1', 'x'), within('m2', 'y')]),
      named('b', 0, 'm2', [within('m1', 'x'), within('m2', 'y')]),
      named('c', 0, 'm3', [within('m1', 'x')]),
      order('d', 0, [], { entries: [local('drug', 'm1')] }),
      order('e', 0, [], { entries: [of('drug', reference({ type: 'Drug', id: 'd' }))] }),
      put('d', 0, 'x', [of('code', token('x'))], 'Drug'),
    ]);
    expect([await find(chain(code('x'))), await find(chain(code('y')))]).toEqual([['a', 'e'], ['b']]);
    expect(await find({ not: chain(code('x')) })).toEqual(['b', 'c', 'd']);
    expect(await find({ param: 'drug', present: 'reference' })).toEqual(['e']);
    const total = { where: chain(code('x')), total: 'accurate', count: 1 } as const;
    expect((await store.find(query('Order', total))).total).toBe(2);
    const include = { directives: [{ isReverse: false, source: 'Order', params: ['drug'], iterates: false }], most: 9, rounds: 0 }; // prettier-ignore
    const page = await store.find(query('Order', { where: chain(code('x')), include }));
    expect(page.included?.map(({ type, id }) => `${type}/${id}`)).toEqual(['Drug/d']);

    const maker: Contained = { type: 'Maker', id: 'o', entries: [of('name', text('maker'))] };
    const made = within('m1', 'x', [local('by', 'o')]);
    await store.write([named('c', 1, 'm1', [made, maker])]);
    const isMaker: Condition = { param: 'name', any: [{ is: 'string-begins', folded: 'mak' }] };
    expect(await find(chain(chain(isMaker, 'by', 'Maker')))).toEqual(['c']);
    const entries = [local('drug', 'm1')];
    await store.reindex([{ type: 'Order', id: 'c', version: 2, entries, contained: [within('m1', 'z')] }]);
    expect([await find(chain(chain(isMaker, 'by', 'Maker'))), await find(chain(code('z')))]).toEqual([[], ['c']]);
    const content = { resourceType: 'Order', id: 'r', meta: { versionId: '1' } };
    const head = {
      type: 'Order',
      id: 'r',
      version: 1,
      lastUpdated: Date.now() + 60_000,
      json: JSON.stringify(content),
    };
    await store.restore([{ ...head, content, entries, contained: [within('m1', 'r')] }]);
    expect(await find(chain(code('r')))).toEqual(['r']);
  });

  it('it is sorted as resources of its type are, and found beside these', async () => {
    await store.write([
      order('a', 0, [within('m1', 'c'), within('m2', 'a')]),
      put('d', 0, 'x', [of('name', text('name b'))], 'Drug'),
      put('a', 0, 'x', [of('name', text('name d'))], 'Drug'),
    ]);
    const sort = [key('string', false, 'name')];
    const parts = [
      { type: 'Drug', where: { all: [] } },
      { type: containedType('Drug'), where: { all: [] } },
    ];
    for (const count of [1, 3, 10]) {
      const found: string[] = [];
      let after: string | undefined;
      do {
        const asked = { parts, sort, count, total: 'accurate', ...(after !== undefined && { after }) } as const;
        const page = await store.findMultiType(asked);
        expect(page.total).toBe(4);
        found.push(...idsOf(page));
        after = page.next;
      } while (after !== undefined);
      expect(found).toEqual(['Order/a#m2', 'd', 'Order/a#m1', 'a']);
    }
  });

  it('equal matches stay in their order when the index is built anew', async () => {
    const contained = [within('m1', 'x')];
    await store.write([order('a', 0, contained), order('b', 0, contained), order('c', 0, contained)]);
    const sorted = query(containedType('Drug'), { sort: [key('string', false, 'name')], count: 1 });
    const before = await walk(store, sorted);
    expect([...before].sort()).toEqual(['Order/a#m1', 'Order/b#m1', 'Order/c#m1']);
    const again = { type: 'Order', version: 1, entries: [of('state', token('open'))] };
    await store.reindex([{ ...again, id: 'a', contained: [...contained, within('m0', 'y')] }]);
    expect((await walk(store, sorted)).filter((id) => id !== 'Order/a#m0')).toEqual(before);
    await store.write([order('b', 1, contained)]);
    expect((await walk(store, sorted)).filter((id) => id !== 'Order/a#m0')).toEqual(before);
  });

  it('a page has as many as are asked for within a large one, beside large ones of others', async () => {
    const large = (id: string, count: number): Put => {
      const contained = Array.from({ length: count }, (_, n) => within(`m${n}`, 'x'));
      return { ...put(id, 0, 'x'.repeat(5_000_000), [], 'Order'), contained };
    };
    await store.write([large('a', 150)]);
    const page = await store.find(query(containedType('Drug'), { count: 120 }));
    expect(page.versions).toHaveLength(120);
    expect(page.versions.every(({ json }) => json === page.versions[0]!.json)).toBe(true);
    expect(page.next).toBeDefined();
    const parts = ['Drug', containedType('Drug')].map((type) => ({ type, where: { all: [] } }));
    const across = await store.findMultiType({ parts, sort: [key('updated')], count: 50, total: 'none' });
    expect(across.versions).toHaveLength(50);
    for (const id of ['b', 'c', 'd', 'e', 'f']) await store.write([large(id, 3)]);
    const found = await walk(store, query(containedType('Drug'), { count: 200 }), ({ versions }) => {
      // As much as a page has of plain ones, too; the toy has all on one.
      expect(new Set(versions.map(({ json }) => json)).size).toBeLessThanOrEqual(on.isShared ? 4 : 6);
    });
    expect([found.length, new Set(found).size]).toEqual([165, 165]);
  });

  it('many within one are found page by page', async () => {
    const many = Array.from({ length: 1203 }, (_, i) => within(`m${i}`, i % 2 === 0 ? 'even' : 'odd'));
    await store.write([order('a', 0, many), order('b', 0, [within('m1', 'even')])]);
    const found = await walk(store, query(containedType('Drug'), { where: code('even'), count: 100 }));
    expect([found.length, new Set(found).size]).toEqual([603, 603]);
    expect(await orders(code('even'))).toEqual(['a', 'b']);
    await store.write([order('a', 1, many.slice(0, 3))]);
    expect(await members({ all: [] })).toEqual(['Order/a#m0', 'Order/a#m1', 'Order/a#m2', 'Order/b#m1']);
  });

  it('many within one are replaced by others, some of which were there', async () => {
    const named = (ids: readonly string[]) =>
      ids.map((id) => within(id, 'x', [], id.length % 2 === 0 ? 'Drug' : 'Tool'));
    const all = async () => [...(await members({ all: [] })), ...(await members({ all: [] }, 'Tool'))].sort();
    const numbers = Array.from({ length: 350 }, (_, n) => n);
    const sets = [
      numbers.map((n) => `m${n}`),
      numbers.map((n) => (n % 3 === 0 ? `m${n}a` : `m${n}`)).filter((_, n) => n % 7 !== 0),
      ['m1', 'm99', 'z'],
      numbers.map((n) => `a${n}`),
      [],
      numbers.slice(0, 101).map((n) => `m${n}`),
    ];
    await store.write([order('b', 0, named(['m5']))]);
    for (const [version, ids] of sets.entries()) {
      await store.write([order('a', version, named(ids))]);
      expect(await all()).toEqual([...ids.map((id) => `Order/a#${id}`), 'Order/b#m5'].sort());
    }
  });

  if (on.isShared) {
    it('it is looked for in the types alone that contain any', async () => {
      const types = ['Order', 'OrderSet', ...Array.from({ length: 60 }, (_, n) => `Type${n}`)];
      const contained = (type: string) => (['OrderSet', 'Type7', 'Type30'].includes(type) ? [within('m1', 'x')] : []);
      const written = types.map((type) => ({ ...put('a', 0, 'x', [], type), contained: contained(type) }));
      await store.write([...written, { ...put('b', 0, 'x', [], 'OrderSet'), contained: [within('m1', 'y')] }]);
      let commands = 0;
      store = await subject.reopen({ onCommand: () => commands++ });
      const parts = types.map((type) => ({ type, where: containing(code('x')) }));
      for (const sort of [[], [key('updated')]]) {
        const places: string[] = [];
        let after: string | undefined;
        do {
          commands = 0;
          const asked = { parts, sort, count: 1, total: 'accurate', ...(after !== undefined && { after }) } as const;
          const page = await store.findMultiType(asked);
          expect(page.total).toBe(3);
          places.push(...page.versions.map(({ type, id }) => `${type}/${id}`));
          // On the first page all three, and again to count them.
          expect(commands).toBeLessThan(60);
          after = page.next;
        } while (after !== undefined);
        expect(places.sort()).toEqual(['OrderSet/a', 'Type30/a', 'Type7/a']);
      }
    });

    it('it is there when the store is opened again', async () => {
      await store.write([order('a', 0, [within('m1', 'x')])]);
      store = await subject.reopen();
      expect(await members(code('x'))).toEqual(['Order/a#m1']);
      await store.write([order('a', 1, [within('m2', 'x')])]);
      expect(await members(code('x'))).toEqual(['Order/a#m2']);
    });
  }
}
