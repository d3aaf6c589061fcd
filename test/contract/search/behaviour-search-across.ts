import { beforeAll, describe, expect, it } from 'vitest';

import type { IndexEntry } from '../../../runtime/indexing/entry.js';
import { matches } from '../../../runtime/search/query/match.js';
import { compareText } from '../../../runtime/search/query/compare-text.js';
import type { Condition, SortKey, Target } from '../../../runtime/search/query/query.js';
import { compareBy } from '../../toy/compare-by.js';
import { CHEAP_TOTAL, type FindMultiTypeQuery, type FindPage, type Store } from '../../../runtime/store/store.js';
import { date, key, number, of, query, settled, sharedStore, text, token, walk } from './behaviour-search-helpers.js';
import { directive } from './behaviour-search-include-cases.js';
import { namesOf } from './behaviour-search-includes.js';
import { ANY, chain, code, coded, has, not, ref } from './behaviour-search-link-cases.js';
import { deletion, put, type Subject } from '../subject.js';

/** `Type/id` of a page, in its order. */
export function placesOf({ versions }: Pick<FindPage, 'versions'>): string[] {
  return versions.map(({ type, id }) => `${type}/${id}`);
}

/** A query over several types with defaults, as `query` has them. */
export function queryAcross(parts: readonly Target[], more: Partial<FindMultiTypeQuery> = {}): FindMultiTypeQuery {
  return { parts, sort: [], count: 1000, total: 'none', ...more };
}

/**
 * `Type/id` of all pages, in the order that is asked for; or else in that of types, and of ids within a type, where resources of a
 * type may come in any. Fails where the walk has no end.
 */
export async function walkAcross(
  store: Store,
  asked: FindMultiTypeQuery,
  onPage?: (page: FindPage) => unknown,
): Promise<string[]> {
  const places: string[] = [];
  let after: string | undefined;
  for (let pages = 0; pages < 5000; pages++) {
    const page = await store.findMultiType(after === undefined ? asked : { ...asked, after });
    places.push(...placesOf(page));
    if (page.versions.length > asked.count) throw new Error(`a page of ${page.versions.length}, not ${asked.count}`);
    await onPage?.(page);
    if (page.next === undefined) return asked.sort.length === 0 ? inTypes(places) : places;
    if (page.versions.length === 0) throw new Error('a page with nothing on it that is not the last');
    after = page.next;
  }
  throw new Error('a walk without an end');
}

function inTypes(places: readonly string[]): string[] {
  const split = places.map((place) => place.split('/') as [type: string, id: string]);
  const types = split.map(([type]) => type);
  expect(types).toEqual([...types].sort(compareText));
  return split.sort(([a, i], [b, j]) => compareText(a, b) || compareText(i, j)).map((place) => place.join('/'));
}

/** What the order over several types compares. */
export interface Placed {
  readonly type: string;
  readonly id: string;
  readonly lastUpdated: number;
  readonly entries: readonly IndexEntry[];
}

/** The order over several types: without keys by type, then id; with keys by these, then by id, then by type. */
export function compareAcross(sort: readonly SortKey[]): (a: Placed, b: Placed) => number {
  const byId = sort.findIndex(({ by }) => by === 'id');
  const order = compareBy(byId < 0 ? sort : sort.slice(0, byId + 1));
  const byType = (a: Placed, b: Placed): number => compareText(a.type, b.type);
  return sort.length === 0 ? (a, b) => byType(a, b) || order(a, b) : (a, b) => order(a, b) || byType(a, b);
}

/** `Type/id` of what was found, with what is alike as `compareAcross` has it. @throws Error as `settled` does */
export function settledAcross(found: readonly string[], all: readonly Placed[], sort: readonly SortKey[]): string[] {
  const byName = new Map(all.map((each) => [`${each.type}/${each.id}`, each]));
  const places = found.map((name) => byName.get(name) ?? { type: name, id: '', lastUpdated: 0, entries: [] });
  const byId = sort.findIndex(({ by }) => by === 'id');
  return settled(places, byId < 0 ? sort : sort.slice(0, byId + 1), compareAcross(sort)).map(
    ({ type, id }) => `${type}/${id}`,
  );
}

const TYPES = ['Alpha', 'Beta', 'Gamma', 'alpha'];

/** Searches over several types. https://hl7.org/fhir/R5/http.html#search */
export function searchAcrossBehaviour(on: Subject): void {
  const subject = sharedStore(on);
  let store: Store;
  const all: Placed[] = [];

  /** Of some there are several, of some none; ids are the same in several types. */
  const entriesOf = (n: number, type: string): IndexEntry[] => [
    of('code', token(n % 2 === 0 ? 'even' : 'odd')),
    ...(n % 3 === 0 ? [] : [of('tag', token(`t${n % 4}`, n % 5 === 0 ? 's' : undefined))]),
    ...(n % 7 === 1 ? [of('tag', token('t0', 'z'))] : []),
    ...(type === 'Beta' ? [] : [of('when', date((n % 4) * 10, (n % 4) * 10 + 5))]),
    of('name', text(`${String.fromCharCode(200 - (n % 6))}`)),
    ...(n % 4 === 0 ? [of('count', number(-n))] : []),
    ...(n > 0 ? [ref('to', `${TYPES[n % 3]}/i${n - 1}`)] : []),
  ];

  beforeAll(async () => {
    ({ store } = subject);
    for (let n = 11; n >= 0; n--) {
      const types = TYPES.filter((type, t) => (n + t) % 4 !== 0 && (type !== 'alpha' || n < 3));
      const changes = types.map((type) => put(`i${n}`, 0, `${type}${n}`, entriesOf(n, type), type));
      const written = await store.write(changes);
      all.push(...written.map(({ type, id, lastUpdated }, i) => ({ type, id, lastUpdated, entries: changes[i]!.entries }))); // prettier-ignore
    }
    await store.write(TYPES.map((type) => put('gone', 0, 'x', entriesOf(1, type), type)));
    await store.write(TYPES.map((type) => deletion('gone', 1, type)));
  });

  const everywhere = (where: Condition, types: readonly string[] = TYPES): Target[] =>
    types.map((type) => ({ type, where }));
  const expectedOf = (parts: readonly Target[], sort: readonly SortKey[]): string[] =>
    all
      .filter((each) => parts.some(({ type, where }) => type === each.type && matches(where, each)))
      .sort(compareAcross(sort))
      .map(({ type, id }) => `${type}/${id}`);

  const SORTS: readonly (readonly SortKey[])[] = [
    [],
    [key('id', false, '_id')],
    [key('id', true, '_id')],
    [key('updated', false, '_lastUpdated')],
    [key('updated', true, '_lastUpdated')],
    [key('token', false, 'tag')],
    [key('token', true, 'tag')],
    [key('token', true, 'code'), key('id', true, '_id')],
    [key('date', true, 'when')],
    [key('date', false, 'when'), key('number', true, 'count')],
    [key('string', false, 'name'), key('updated', true, '_lastUpdated')],
    [key('number', false, 'never')],
    // Ids are the same in several types, so that what comes after them counts.
    [key('id', true, '_id'), key('date', true, 'when')],
  ];
  const PARTS: readonly (readonly [what: string, parts: readonly Target[]])[] = [
    ['all of all', everywhere(ANY)],
    ['of other types last', everywhere(ANY, ['Gamma', 'alpha', 'Nothing', 'Beta'])],
    ['one type', everywhere(ANY, ['Beta'])],
    ['the same condition', everywhere(code('odd'))],
    ['other conditions', [{ type: 'Gamma', where: code('odd') }, { type: 'Alpha', where: not(code('odd')) }, { type: 'Beta', where: { ids: ['i1', 'i2', 'i11'] } }]], // prettier-ignore
    [
      'nothing of one',
      [
        { type: 'Alpha', where: { some: [] } },
        { type: 'Beta', where: ANY },
      ],
    ],
    ['nothing at all', everywhere({ param: 'code', any: [{ is: 'token', code: 'none' }] })],
    ['no part', []],
  ];

  describe.each(PARTS)('%s', (_what, parts) => {
    it.each(SORTS)('by %j %j', async (...sort) => {
      const wanted = expectedOf(parts, sort);
      const page = await store.findMultiType(queryAcross(parts, { sort, total: 'accurate' }));
      const placed = sort.length === 0 ? inTypes(placesOf(page)) : settledAcross(placesOf(page), all, sort);
      expect([placed, page.total]).toEqual([wanted, wanted.length]);
      expect(page).not.toHaveProperty('next');
      expect(page.versions).toEqual(await store.readMany(page.versions.map(({ type, id }) => ({ type, id }))));
      for (const count of [1, 2, 3, 5, wanted.length - 1, wanted.length, wanted.length + 1]) {
        if (count < 1) continue;
        const totals = new Set<number | undefined>();
        let pages = 0;
        const asked = queryAcross(parts, { sort, count, total: count % 2 === 0 ? 'accurate' : 'cheap' });
        const walked = await walkAcross(store, asked, ({ total }) => {
          totals.add(total);
          pages++;
        });
        expect(settledAcross(walked, all, sort), `${count} a page`).toEqual(wanted);
        // A cheap one may be unknown, but on all pages alike.
        const known = [...totals];
        expect(known).toHaveLength(1);
        if (count % 2 === 0 || known[0] !== undefined) expect(known).toEqual([wanted.length]);
        expect(pages).toBe(Math.max(1, Math.ceil(wanted.length / count)));
      }
    });
  });

  it('large ones fill their pages in whatever order', async () => {
    const ids = Array.from({ length: 24 }, (_, n) => `i${String(n).padStart(2, '0')}`);
    for (const id of ids) await store.write([put(id, 0, 'x'.repeat(1_200_000), [], 'Heavy')]);
    const parts = ['Heavy', 'Beta'].map((type) => ({ type, where: { all: [] } }));
    let pages = 0;
    const sort: SortKey[] = [{ by: 'updated', param: '_lastUpdated', isDescending: true }];
    const places = await walkAcross(store, queryAcross(parts, { sort, count: 100 }), () => pages++);
    expect(places.slice(0, ids.length)).toEqual(ids.map((id) => `Heavy/${id}`).reverse());
    expect(pages).toBeLessThanOrEqual(5);
  });

  it('by either of two references, of hundreds that are partly found by both', async () => {
    const wanted: string[] = [];
    const changes = Array.from({ length: 700 }, (_, n) => {
      const id = `m${String(n).padStart(3, '0')}`;
      if (n % 5 !== 0) wanted.push(`Many/${id}`);
      const by = [...(n % 5 === 1 || n % 5 === 2 ? ['of'] : []), ...(n % 5 >= 2 ? ['from'] : [])];
      return put(id, 0, 'x', n % 5 === 0 ? [ref('of', 'Alpha/other')] : by.map((param) => ref(param, 'Alpha/one')), 'Many'); // prettier-ignore
    });
    await store.write(changes);
    const to = (param: string): Condition => ({ param, any: [{ is: 'reference', id: 'one', types: ['Alpha'] }] });
    const where: Condition = { all: [{ some: [to('of'), to('from')] }] };
    const parts = everywhere(where, ['Alpha', 'Many', 'alpha']);
    for (const count of [7, 100, 233, 560, 600]) {
      expect(await walkAcross(store, queryAcross(parts, { count })), `${count} a page`).toEqual(wanted);
      const alone = await walk(store, query('Many', { where, count }));
      expect(alone.map((id) => `Many/${id}`), `${count} a page`).toEqual(wanted); // prettier-ignore
    }
    const counted = await store.find(query('Many', { where, count: 10, total: 'accurate' }));
    expect(counted.total).toBe(wanted.length);
  });

  it('whatever the order of the parts', async () => {
    for (const sort of SORTS) {
      const parts = everywhere(ANY);
      const straight = await walkAcross(store, queryAcross(parts, { sort, count: 4 }));
      expect(await walkAcross(store, queryAcross([...parts].reverse(), { sort, count: 4 }))).toEqual(straight);
    }
  });

  it('a part is what find finds', async () => {
    for (const [, parts] of PARTS) {
      for (const { type, where } of parts) {
        const { versions, total } = await store.find(query(type, { where, total: 'accurate' }));
        const page = await store.findMultiType(queryAcross([{ type, where }], { total: 'accurate' }));
        expect([page.versions, page.total]).toEqual([versions, total]);
      }
    }
  });

  it('hundreds of types, nearly all of them without any', async () => {
    const types = Array.from({ length: 300 }, (_, n) => `Empty${n}`);
    const parts = everywhere(ANY, [...types.slice(0, 150), 'Gamma', ...types.slice(150), 'Alpha']);
    for (const sort of [[], [key('updated', true, '_lastUpdated')]] as const) {
      const wanted = expectedOf(everywhere(ANY, ['Alpha', 'Gamma']), sort);
      const walked = await walkAcross(store, queryAcross(parts, { sort, count: 4, total: 'accurate' }));
      expect(settledAcross(walked, all, sort)).toEqual(wanted);
    }
  });

  it('of no resources is all there is', async () => {
    for (const total of ['accurate', 'cheap', 'none'] as const) {
      const page = await store.findMultiType(queryAcross(everywhere(ANY), { count: 0, total }));
      const { complete } = page;
      expect(page).toEqual({ versions: [], complete, ...(page.total !== undefined && { total: all.length }) });
      expect(page.total !== undefined || total !== 'accurate').toBe(true);
      expect(page.total === undefined || total !== 'none').toBe(true);
    }
  });

  it('with links', async () => {
    const links = [
      { type: 'Alpha', where: chain('to', 'Beta', code('odd')) },
      { type: 'Beta', where: has('Alpha', 'to', ANY) },
    ];
    const wanted = [];
    for (const { type, where } of links) wanted.push(...placesOf(await store.find(query(type, { where }))));
    expect(wanted.length).toBeGreaterThan(3);
    expect(await walkAcross(store, queryAcross(links, { count: 2 }))).toEqual(inTypes(wanted));
  });

  it('with what comes with a page, and never what is on it', async () => {
    const include = { directives: [directive('Alpha:to'), directive('< Gamma:to', { targets: ['Beta'] })], most: 1000, rounds: 5 }; // prettier-ignore
    const living = new Map(all.map((each) => [`${each.type}/${each.id}`, each]));
    const targetOf = ({ entries }: Placed): string => {
      const to = entries.find(({ param }) => param === 'to') as { type?: string; id?: string } | undefined;
      return `${to?.type}/${to?.id}`;
    };
    for (const count of [1, 3, 7, 100]) {
      let included = 0;
      await walkAcross(store, queryAcross(everywhere(ANY, ['Alpha', 'Beta']), { count, include }), (page) => {
        const shown = new Set(placesOf(page));
        const forwards = placesOf(page).filter((place) => place.startsWith('Alpha/')).map((place) => targetOf(living.get(place)!)); // prettier-ignore
        const backwards = all.filter((each) => each.type === 'Gamma' && targetOf(each).startsWith('Beta/') && shown.has(targetOf(each))); // prettier-ignore
        const wanted = new Set([...forwards.filter((place) => living.has(place)), ...placesOf({ versions: backwards as never })]); // prettier-ignore
        const names = [...wanted].filter((place) => !shown.has(place)).map((place) => `${place}/1`);
        expect(namesOf(page)).toEqual(names.sort());
        included += names.length;
      });
      expect(included).toBeGreaterThan(2);
    }
  });

  it('totals: accurate however many, cheap known or unknown on all pages', async () => {
    const MANY = CHEAP_TOTAL.matches + 5;
    const half = (type: string) => Array.from({ length: MANY / 2 + 1 }, (_, n) => put(`m${n}`, 0, 'x', [coded('x')], type)); // prettier-ignore
    await store.write([...half('ManyOne'), ...half('ManyTwo')]);
    const parts = everywhere(code('x'), ['ManyOne', 'ManyTwo']);
    const exact = half('x').length * 2;
    expect((await store.findMultiType(queryAcross(parts, { count: 2, total: 'accurate' }))).total).toBe(exact);
    const totals = new Set<number | undefined>();
    await walkAcross(store, queryAcross(parts, { count: 300, total: 'cheap' }), ({ total }) => totals.add(total));
    expect(totals.size).toBe(1);
    expect([undefined, exact]).toContain([...totals][0]);
  });

  it.each(SORTS.map((sort, n) => ({ sort, n })))(
    'nor repeats nor skips while others write: $sort',
    async ({ sort, n }) => {
      const types = ['BusyA', 'BusyB'].map((type) => `${type}${n}`);
      const parts = everywhere(ANY, types);
      const versions = new Map<string, number>();
      const touched = new Set<string>();
      const change = async (place: string, isDeleted: boolean, at: number): Promise<void> => {
        const [type, id] = place.split('/') as [string, string];
        const version = versions.get(place) ?? 0;
        versions.set(place, version + 1);
        await store.write([isDeleted ? deletion(id, version, type) : put(id, version, 'y', entriesOf(at, type), type)]);
      };
      for (let at = 0; at < 9; at++) for (const type of types) await change(`${type}/k${at}`, false, at);
      const unpaged = await walkAcross(store, queryAcross(parts, { sort }));
      expect(unpaged).toHaveLength(18);
      const seen: string[] = [];
      const totals = new Set<number | undefined>();
      let at = 20;
      await walkAcross(store, queryAcross(parts, { sort, count: 3, total: 'accurate' }), async (page) => {
        seen.push(...placesOf(page));
        totals.add(page.total);
        const last = placesOf(page).at(-1)!;
        if (!unpaged.includes(last)) return;
        for (const [place, isDeleted] of [
          [last, at % 2 === 0],
          [`${types[at % 2]!}/a${at}`, false],
          [`${types[at % 2]!}/z${at}`, false],
        ] as const) {
          // prettier-ignore
          touched.add(place);
          await change(place, isDeleted, at);
        }
        at++;
      });
      const untouched = (places: readonly string[]): string[] => places.filter((place) => !touched.has(place));
      expect(untouched(seen)).toEqual(untouched(unpaged));
      expect(untouched(unpaged).length).toBeGreaterThan(8);
      expect([...totals]).toEqual([18]);
    },
  );

  describe('cursors', () => {
    const asked = (sort: readonly SortKey[], after?: string): FindMultiTypeQuery =>
      queryAcross(everywhere(ANY), { sort, count: 3, ...(after !== undefined && { after }) });

    it('that are none are refused', async () => {
      const junk = ['', ' ', 'x', '0', 'null', '{}', '[]', 'e30', 'Alpha', 'Alpha ', ' x', 'Alpha x', 'Nothing x', 'Alpha [] 1', '\u0000', '{"$gt":""}', 'a'.repeat(9000)]; // prettier-ignore
      for (const after of junk) {
        for (const sort of SORTS) {
          await expect(store.findMultiType(asked(sort, after)), `${after} by ${JSON.stringify(sort)}`).rejects.toMatchObject({ code: 'page-invalid', status: 400 }); // prettier-ignore
        }
      }
    });

    it('of another order are refused', async () => {
      const next = async (sort: readonly SortKey[]): Promise<string> => (await store.findMultiType(asked(sort))).next!;
      for (const [from, to] of [
        [0, 3],
        [3, 0],
        [3, 5],
        [5, 8],
        [10, 5],
        [8, 9],
        [9, 8],
      ] as const) {
        // prettier-ignore
        const after = await next(SORTS[from]!);
        await expect(store.findMultiType(asked(SORTS[to]!, after)), `${from} ${to}`).rejects.toMatchObject({
          code: 'page-invalid',
        });
      }
    });

    it('cut or altered are refused, or are cursors', async () => {
      for (const sort of [SORTS[0]!, SORTS[5]!]) {
        const { next } = await store.findMultiType(asked(sort));
        expect(next?.length).toBeLessThan(1000);
        for (let at = 0; at < next!.length; at++) {
          for (const after of [
            next!.slice(0, at),
            `${next!.slice(0, at)}!${next!.slice(at + 1)}`,
            next!.slice(0, at) + next!.slice(at + 1),
          ]) {
            // prettier-ignore
            const page = await store.findMultiType(asked(sort, after)).catch((error: unknown) => error);
            if (page instanceof Error) expect(page, after).toMatchObject({ code: 'page-invalid' });
          }
        }
      }
    });
  });
}
