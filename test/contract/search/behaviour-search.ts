import { beforeAll, describe, expect, it } from 'vitest';

import type { IndexEntry } from '../../../runtime/indexing/entry.js';
import { printCondition } from '../../../runtime/search/query/print.js';
import type { Store } from '../../../runtime/store/store.js';
import { SEARCH_CASES } from './behaviour-search-cases.js';
import { WORDS_CASES } from './behaviour-search-words.js';
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
  sortedIdsOf,
  text,
  token,
  uri,
} from './behaviour-search-helpers.js';
import { put, type Subject } from '../subject.js';

const CASES = [...SEARCH_CASES, ...WORDS_CASES];

/** What conditions find, and in which order. https://hl7.org/fhir/R5/search.html */
export function searchBehaviour(on: Subject): void {
  const subject = sharedStore(on);
  let store: Store;

  /** Writes resources of one type. What is alike in an order comes by id: it is written so, and a store that has another order has that. */
  async function write(type: string, resources: Readonly<Record<string, readonly IndexEntry[]>>): Promise<void> {
    const changes = Object.entries(resources).map(([id, entries]) => put(id, 0, 'x', entries, type));
    await store.write(changes);
  }

  beforeAll(async () => {
    ({ store } = subject);
    for (const [n, { resources }] of CASES.entries()) await write(`Type${n}`, resources);
  });

  describe.each(CASES.map((each, n) => ({ ...each, type: `Type${n}` })))('$name', ({ type, findings }) => {
    it.each(findings)('%s', async (_what, where, ids) => {
      const page = await store.find(query(type, { where, total: 'accurate' }));
      expect(sortedIdsOf(page).join(''), printCondition(where)).toBe(ids);
      expect(page.total).toBe(ids.length);
    });
  });

  describe('orders', () => {
    const ORDERS: readonly [string, Readonly<Record<string, readonly IndexEntry[]>>, asc: string, desc: string][] = [
      [
        'strings',
        { a: [text('b')], b: [text('a'), text('z')], c: [], d: [text('b')], e: [text('aa')], f: [text('b c')] },
        'beadfc',
        'bfadec',
      ],
      [
        'strings by code point',
        {
          a: [text('\u{1f525}')],
          b: [text('\uff5e')],
          c: [text('z')],
          d: [text('\ue000')],
          e: [text('ä')],
          f: [text('\u{1f525}'), text('\uff5e')],
        },
        'cedbfa',
        'afbdec',
      ],
      [
        'dates, the low end ascending and the high end descending',
        {
          a: [date(10, 90)],
          b: [date(20, 30)],
          c: [],
          d: [date(undefined, 15)],
          e: [date(50)],
          f: [date(-5, -4), date(60, 61)],
        },
        'dfabec',
        'eafbdc',
      ],
      [
        'numbers',
        { a: [number(10)], b: [number(9)], c: [number(-1), number(100)], d: [], e: [number(9.5)] },
        'cbead',
        'caebd',
      ],
      [
        'quantities by their canonical value',
        {
          a: [quantity({ value: 1, code: 'kg', system: 'u', canonical: { unit: 'g', value: 1000 } })],
          b: [quantity({ value: 900, code: 'g', system: 'u', canonical: { unit: 'g', value: 900 } })],
          c: [quantity({ value: 950 })],
          d: [quantity({ value: 5, low: 5, high: 5000 })],
          e: [],
          f: [quantity({ value: 901, high: 901 }), quantity({ value: 800, low: 800 })],
        },
        'dfbcae',
        'dacfbe',
      ],
      [
        'tokens by code',
        {
          a: [token('b', 's')],
          b: [token('a', 't'), token('c', 's')],
          c: [token('bb', 's')],
          d: [token('aa')],
          e: [token(undefined, 'z')],
          f: [],
        },
        'ebdacf',
        'bcadef',
      ],
      [
        'references by their target',
        {
          a: [reference({ type: 'Patient', id: '2' })],
          b: [reference({ type: 'Group', id: '9' })],
          c: [reference({ type: 'Group', id: '9', base: 'http://x' })],
          d: [reference({ url: 'Patient/1' })],
          e: [reference({ identifier: { value: 'M' } })],
          f: [],
          g: [reference({ type: 'Patient', id: '2', identifier: { value: 'A' } })],
        },
        'bedagcf',
        'cagdebf',
      ],
      ['URIs', { a: [uri('http://b')], b: [uri('http://B')], c: [uri('urn:a'), uri('a:a')], d: [] }, 'cbad', 'cabd'],
    ];

    it.each(ORDERS.map((each, n) => [...each, `Order${n}`] as const))(
      '%s',
      async (_what, resources, asc, desc, type) => {
        await write(type, resources);
        const by = Object.values(resources).flat()[0]!.kind as 'token';
        for (const [isDescending, ids] of [
          [false, asc],
          [true, desc],
        ] as const) {
          expect(
            idsOf(await store.find(query(type, { sort: [key(by, isDescending)] }))).join(''),
            `${isDescending}`,
          ).toBe(ids);
          // The same by a parameter without a slot, and with a condition.
          const others = Object.entries(resources).map(([id, entries]) => [
            id,
            entries.map((entry) => of('other', entry)),
          ]);
          if (!isDescending) await write(`${type}Other`, Object.fromEntries(others));
          const where = { not: { ids: [ids.charAt(1)] } };
          const sort = [key(by, isDescending, 'other')];
          expect(idsOf(await store.find(query(`${type}Other`, { sort, where }))).join('')).toBe(
            ids.replace(ids.charAt(1), ''),
          );
        }
      },
    );

    it('several keys, each in its own direction, and ids last', async () => {
      const of2 = (name: string, count?: number): IndexEntry[] => [
        of('name', text(name)),
        ...(count === undefined ? [] : [of('count', number(count))]),
      ];
      await write('Several', {
        a: of2('x', 1),
        b: of2('y', 1),
        c: of2('x', 2),
        d: of2('x'),
        e: of2('x', 2),
        f: [],
        g: of2('y', 3),
      });
      const by = async (...sort: ReturnType<typeof key>[]) =>
        idsOf(await store.find(query('Several', { sort }))).join('');
      expect(await by(key('string', false, 'name'), key('number', true, 'count'))).toBe('ceadgbf');
      expect(await by(key('string', true, 'name'), key('number', false, 'count'))).toBe('bgacedf');
      expect(await by(key('number', false, 'count'), key('string', true, 'name'))).toBe('bacegdf');
      expect(await by(key('string', false, 'none'), key('number', true, 'count'))).toBe('gceabdf');
      expect(await by(key('string', false, 'name'), key('id', true, '_id'))).toBe('edcagbf');
      expect(await by(key('id', true, '_id'), key('string', false, 'name'))).toBe('gfedcba');
      expect(await by(key('id', false, '_id'))).toBe('abcdefg');
    });

    it('ids by code point, by case too', async () => {
      await write('Ids', { B: [], a: [], '-': [], '10': [], '9': [], A: [], '.': [], b: [] });
      const order = ['-', '.', '10', '9', 'A', 'B', 'a', 'b'];
      expect(idsOf(await store.find(query('Ids', { sort: [key('id', false, '_id')] })))).toEqual(order);
      expect(idsOf(await store.find(query('Ids', { sort: [key('id', true, '_id')] })))).toEqual(order.reverse());
    });

    it('by the time of the last update', async () => {
      await write('Times', { a: [], b: [], c: [] });
      for (const id of ['b', 'a']) await store.write([put(id, 1, 'y', [], 'Times')]);
      const times = await Promise.all(['a', 'b', 'c'].map((id) => store.read('Times', id)));
      const [a, b, c] = times.map((stored) => stored!.lastUpdated) as [number, number, number];
      expect(c < b || b <= a).toBe(true);
      const pairs = [['a', a], ['b', b], ['c', c]] as const; // prettier-ignore
      const sorted = (sign: number) =>
        [...pairs].sort(([i, s], [j, t]) => sign * (s - t) || (i < j ? -1 : 1)).map(([id]) => id);
      expect(idsOf(await store.find(query('Times', { sort: [key('updated')] })))).toEqual(sorted(1));
      expect(idsOf(await store.find(query('Times', { sort: [key('updated', true)] })))).toEqual(sorted(-1));
      for (const [id, time] of pairs) {
        const where = { updated: [{ low: { gte: time }, high: { lte: time } }] };
        expect(idsOf(await store.find(query('Times', { where })))).toContain(id);
        expect(idsOf(await store.find(query('Times', { where: { not: where } })))).not.toContain(id);
      }
    });
  });

  it('types are told apart, though ids and parameters are alike', async () => {
    const entries = [of('shared', token('x')), of('parts', composite([token('x')], [number(1)]))];
    await store.write(['One', 'Two'].map((type) => put('same', 0, type, entries, type)));
    await store.write([put('more', 0, 'x', entries, 'Two')]);
    const where = { param: 'shared', any: [{ is: 'token' as const, code: 'x' }] };
    const [found, ...rest] = (await store.find(query('One', { where }))).versions;
    expect(rest).toEqual([]);
    expect(found).toEqual(await store.read('One', 'same'));
    expect(sortedIdsOf(await store.find(query('Two', { where })))).toEqual(['more', 'same']);
    expect(idsOf(await store.find(query('Three', { where, total: 'accurate' })))).toEqual([]);
  });
}
