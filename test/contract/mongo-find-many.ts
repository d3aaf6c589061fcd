import { MongoClient } from 'mongodb';
import { afterAll, beforeAll, expect, it } from 'vitest';

import type { IndexEntry } from '../../runtime/indexing/entry.js';
import { matches, type Candidate } from '../../runtime/search/query/match.js';
import { printCondition } from '../../runtime/search/query/print.js';
import type { Condition, SortKey } from '../../runtime/search/query/query.js';
import { compareBy } from '../toy/compare-by.js';
import { openMongoStore } from '../../runtime/store/mongo/mongo-store.js';
import type { FindQuery, Store } from '../../runtime/store/store.js';
import { atMost } from '../at-most.js';
import { newDatabase } from '../mongod/for-tests.js';
import {
  composite,
  date,
  idsOf,
  key,
  number,
  of,
  query,
  reference,
  slotOf,
  sortedIdsOf,
  token,
} from './search/behaviour-search-helpers.js';
import { createRandom } from './random.js';
import { put } from './subject.js';

/** More than a walk looks at before it is given up. */
const MANY = 7000;
const HOUR = 3_600_000;
const PAGE = 20;

/** What searches among thousands find, and at what cost. */
export function searchesAmongMany(): void {
  let url: string;
  let store: Store;
  const all: Candidate[] = [];

  beforeAll(async () => {
    url = newDatabase();
    store = await openMongoStore(url, { slotOf });
    const random = createRandom(5);
    const entriesOf = (n: number): IndexEntry[] => [
      of('status', token(n % 10 === 0 ? 'draft' : 'final')),
      of('half', token(n % 2 === 0 ? 'even' : 'odd', 's')),
      of('third', token(`t${n % 3}`)),
      of('who', token(`w${n % 350}`)),
      ...(n % 7 === 0 ? [] : [of('when', date(n * HOUR, n * HOUR + (random.chance(0.02) ? 60 * 24 * HOUR : HOUR)))]),
      ...(random.chance(0.02) ? [of('when', date(random.below(MANY) * HOUR))] : []),
      of('size', number(random.below(2000))),
      of('pair', composite([token(n % 2 === 0 ? 'even' : 'odd')], [token(`p${n % 11}`)])),
    ];
    const ids = Array.from({ length: MANY }, (_, n) => `r${(n * 7919) % MANY}`);
    for (let at = 0; at < ids.length; at += 500) {
      const changes = ids.slice(at, at + 500).map((id, i) => put(id, 0, 'x', entriesOf(at + i), 'Many'));
      const written = await store.write(changes);
      all.push(...written.map(({ id, lastUpdated }, i) => ({ id, lastUpdated, entries: changes[i]!.entries })));
    }
  }, 120_000);
  afterAll(() => store.close());

  const code = (param: string, ...codes: string[]): Condition => ({ param, any: codes.map((each) => ({ is: 'token', code: each })) }); // prettier-ignore
  const since = (hour: number): Condition => ({ param: 'when', any: [{ is: 'date', high: { gte: hour * HOUR } }] });
  const until = (hour: number): Condition => ({ param: 'when', any: [{ is: 'date', low: { lt: hour * HOUR } }] });
  const above = (value: number): Condition => ({ param: 'size', any: [{ is: 'number', high: { gt: value } }] });

  const pair = (one: string, other: string): Condition => ({ param: 'pair', composite: [[[{ is: 'token', code: one }], [{ is: 'token', code: other }]]] }); // prettier-ignore

  const CONDITIONS: readonly Condition[] = [
    { all: [] },
    code('status', 'final'),
    code('status', 'final', 'draft'),
    { all: [code('status', 'final'), code('who', 'w7')] },
    { all: [code('half', 'even'), code('third', 't1'), code('status', 'final')] },
    // Nothing, and all of it often by itself.
    { all: [code('half', 'even'), code('half', 'odd')] },
    { all: [since(3000), until(3040)] },
    { all: [since(3000), until(3040), code('status', 'final')] },
    { all: [since(500), above(5)] },
    { all: [above(1900), code('half', 'odd')] },
    above(1995),
    pair('odd', 'p5'),
    pair('even', 'none'),
    // One of several: by one index, by several, and as a compartment asks.
    { some: [code('who', 'w3'), code('third', 'none')] },
    { some: [code('who', 'w3'), since(6990)] },
    { all: [code('half', 'even'), { some: [code('who', 'w3'), code('status', 'none')] }] },
    { all: [{ some: [{ ids: ['r5'] }, code('who', 'w3')] }, code('status', 'final')] },
    { not: code('status', 'final') },
    { updated: [{ low: { gte: 0 } }] },
  ];
  const SORTS: readonly (readonly SortKey[])[] = [
    [],
    [key('id', true, '_id')],
    [key('date', false, 'when')],
    [key('date', true, 'when')],
    [key('number', true, 'size'), key('date', false, 'when')],
    [key('updated', true, '_lastUpdated')],
    [key('updated', false, '_lastUpdated')],
  ];

  const ofMany = (where: Condition, sort: readonly SortKey[] = []): FindQuery => query('Many', { where, sort, count: PAGE }); // prettier-ignore
  const ordersOf = (where: Condition): Condition[] =>
    !('all' in where) || where.all.length < 2
      ? [where]
      : where.all.flatMap((first) => ordersOf({ all: where.all.filter((each) => each !== first) }).map((rest) => ({ all: [first, ...('all' in rest ? rest.all : [rest])] }))); // prettier-ignore

  it.each(CONDITIONS.map((where) => ({ where, title: printCondition(where).slice(0, 80) })))(
    'whichever way is taken, pages hold what matches: $title',
    { timeout: 60_000 },
    async ({ where }) => {
      const found = all.filter((each) => matches(where, each));
      for (const sort of SORTS) {
        const expected = [...found].sort(compareBy(sort)).map(({ id }) => id);
        const ids: string[] = [];
        let after: string | undefined;
        for (let page = 0; page < 4; page++) {
          const asked = { ...ofMany(where, sort), count: page === 2 ? 400 : 15, total: 'accurate' as const };
          const { versions, next, total } = await store.find(after === undefined ? asked : { ...asked, after });
          ids.push(...idsOf({ versions }));
          expect(total).toBe(found.length);
          after = next;
          if (next === undefined) break;
        }
        expect(ids, JSON.stringify(sort)).toHaveLength(Math.min(445, expected.length));
        if (sort.length > 0) expect(ids, JSON.stringify(sort)).toEqual(expected.slice(0, 445));
        // They come in any order, each once.
        else expect(new Set([...ids, ...expected]).size).toBe(new Set(ids).size + expected.length - ids.length);
        expect(after === undefined).toBe(expected.length <= 445);
      }
    },
  );

  /** Matches of the condition that by itself has the fewest. */
  const fewest = (where: Condition): number => {
    const each = 'all' in where ? where.all : [where];
    return Math.min(MANY, ...each.map((one) => all.filter((candidate) => matches(one, candidate)).length));
  };

  it.each(
    CONDITIONS.slice(
      0,
      CONDITIONS.findIndex((where) => 'not' in where),
    )
      .flatMap(ordersOf)
      .map((where) => ({ where, title: printCondition(where) })),
  )('looks at no more than twenty times the page and the fewest matches: $title', async ({ where }) => {
    for (const sort of SORTS.filter(([first]) => first?.by !== 'number')) {
      const { examined, ...told } = await store.explain(ofMany(where, sort));
      const text = JSON.stringify({ sort, ...told });
      // Without a condition the order is walked through; what has no value is behind it.
      expect(examined, text).toBeLessThanOrEqual(20 * (PAGE + fewest(where)));
      expect(told.indexes, text).not.toEqual([]);
    }
  });

  it('what conditions leave of a walk costs what they leave, in whatever order they are written', async () => {
    for (const where of ordersOf({ all: [code('status', 'final'), code('who', 'w7'), code('half', 'odd')] })) {
      const { examined, driving, probes } = await store.explain(ofMany(where));
      expect(driving).toBe('who = "w7"');
      expect(examined).toBeLessThanOrEqual(45);
      expect(probes.find(({ condition }) => condition === 'who = "w7"')).toMatchObject({ matches: 20, isMore: false });
    }
    const { examined } = await store.explain(ofMany({ all: [since(3000), until(3040)] }));
    expect(examined).toBeLessThan(600);
  });

  it('a page far behind costs what the first does', async () => {
    for (const [where, sort] of [
      [code('status', 'final'), []],
      [{ all: [] }, [key('date', true, 'when')]],
      [{ all: [] }, []],
    ] as const) {
      const asked = ofMany(where, sort);
      const first = await store.explain(asked);
      let after = (await store.find(asked)).next!;
      for (let page = 0; page < 5; page++) after = (await store.find({ ...asked, count: 900, after })).next!;
      const far = await store.explain({ ...asked, after });
      expect(far.returned).toBe(PAGE);
      expect(far.examined).toBeLessThanOrEqual(first.examined + 10);
    }
  });

  it('entries are replaced while others write, and what was written is what is found', async () => {
    const client = new MongoClient(url);
    try {
      const ids = Array.from({ length: 50 }, (_, n) => `b${n}`);
      await store.write(ids.map((id) => put(id, 0, 'x', [of('who', token('old'))], 'Busy')));
      const reindexed = store.reindex(ids.map((id) => ({ type: 'Busy', id, version: 1, entries: [of('who', token('new'))] }))); // prettier-ignore
      const written = store.write(ids.slice(0, 10).map((id) => put(id, 1, 'y', [of('who', token('written'))], 'Busy')));
      const [count] = await Promise.all([reindexed, written]);
      expect(count).toBeGreaterThanOrEqual(40);
      const total = async (value: string) => (await store.find({ ...query('Busy', { where: code('who', value) }), total: 'accurate' })).total; // prettier-ignore
      expect([await total('written'), await total('new'), await total('old')]).toEqual([10, 40, 0]);
      // Slots that are no more are gone.
      await store.reindex([{ type: 'Busy', id: 'b20', version: 1, entries: [of('when', date(5, 6))] }]);
      await store.reindex([{ type: 'Busy', id: 'b20', version: 1, entries: [of('count', number(5))] }]);
      const found = await client.db().collection<{ _id: string }>('resource').findOne({ _id: 'Busy/b20' });
      expect(found).toMatchObject({ version: 1, o4: 5, number: [{ p: 'count' }] });
      for (const field of ['token', 'date', 'o1', 'd1']) expect(found).not.toHaveProperty(field);
    } finally {
      await client.close();
    }
  });

  it('ids of references of any type are found among thousands, those of other types and servers are not', async () => {
    const type = 'Pointing';
    const base = 'http://x/fhir';
    const places: Readonly<Record<string, IndexEntry>> = {
      a: reference({ type: 'T3', id: 'i5' }),
      b: reference({ type: 'T3', id: 'i5', base }),
      c: reference({ type: 'Other', id: 'i5' }),
      d: reference({ type: 'T9', id: 'i4000', version: '2' }),
      e: reference({ type: 'T9', id: 'x' }),
      f: reference({ url: 'i5' }),
      g: reference({ type: 'T3', identifier: { value: 'i5' } }),
      h: composite([reference({ type: 'T1', id: 'i5' })], [token('c')]),
    };
    const changes = Object.entries(places).map(([id, entry]) => put(id, 0, 'x', [of('to', entry)], type));
    const written = await store.write(changes);
    const types = Array.from({ length: 100 }, (_, n) => `T${n}`);
    const ids = Array.from({ length: 5000 }, (_, n) => `i${n}`);
    for (const [more, expected] of [
      [{}, ['a', 'd']],
      [{ base }, ['b']],
      [{ version: '2' }, ['d']],
    ] as const) {
      const any = ids.map((id) => ({ is: 'reference', id, types, ...more }) as const);
      const where: Condition = { param: 'to', any };
      const seen = written.flatMap(({ id, lastUpdated }, i) => matches(where, { id, lastUpdated, entries: changes[i]!.entries }) ? [id] : []); // prettier-ignore
      expect(seen).toEqual(expected);
      expect(idsOf(await store.find(query(type, { where })))).toEqual(expected);
      const others = Object.keys(places).filter((id) => !(expected as readonly string[]).includes(id));
      expect(idsOf(await store.find(query(type, { where: { not: where } })))).toEqual(others);
      if (expected.length === 2) {
        const parts: Condition = { param: 'to', composite: [[any.slice(0, 60), [{ is: 'token', code: 'c' }]]] };
        expect(idsOf(await store.find(query(type, { where: parts })))).toEqual(['h']);
      }
    }
  });

  it('long beginnings of codes are found, and long texts within others', async () => {
    const type = 'Long';
    const lengths = [900, 1100, 2500, 3999, 4100];
    const code = (letter: string, length: number): IndexEntry => of('code', token(letter.repeat(length)));
    await store.write(lengths.map((length) => put(`l${length}`, 0, 'x', [code('Q', length)], type)));
    await store.write(lengths.map((length) => put(`o${length}`, 0, 'x', [code('(', length)], type)));
    for (const length of lengths) {
      const expected = lengths.filter((each) => each >= length).sort();
      for (const [lower, letter] of [
        ['q', 'l'],
        ['(', 'o'],
      ] as const) {
        // prettier-ignore
        const where: Condition = { param: 'code', any: [{ is: 'token-code-begins', lower: lower.repeat(length) }] };
        expect(sortedIdsOf(await store.find(query(type, { where })))).toEqual(
          expected.map((each) => `${letter}${each}`).sort(),
        );
      }
      const contains: Condition = { param: 'name', any: [{ is: 'string-contains', folded: '('.repeat(length) }] };
      expect(idsOf(await store.find(query(type, { where: contains })))).toEqual([]);
    }
  });

  it('what fulfils two bounds by different intervals is found, whether these are near each other or far', async () => {
    const type = 'Brief';
    const random = createRandom(8);
    const written: Candidate[] = [];
    const write = async (count: number, entriesOf: () => IndexEntry[]): Promise<void> => {
      const changes = Array.from({ length: count }, () => put(`s${written.length + random.below(9)}-${random.below(1e9)}`, 0, 'x', entriesOf(), type)); // prettier-ignore
      const stored = await store.write(changes);
      written.push(...stored.map(({ id, lastUpdated }, i) => ({ id, lastUpdated, entries: changes[i]!.entries })));
    };
    // Up to three intervals of one resource, a day from the first to the last at most.
    const brief = (): IndexEntry[] => {
      const begin = random.below(20 * 24);
      return Array.from({ length: 1 + random.below(3) }, () => {
        const low = begin + random.below(25);
        return of('when', date(low * HOUR, random.chance(0.5) ? low * HOUR : Math.min(low + random.below(25), begin + 24) * HOUR)); // prettier-ignore
      });
    };
    const check = async (): Promise<void> => {
      for (let n = 0; n < 40; n++) {
        const from = random.below(20 * 24);
        const where: Condition = { all: [since(from), until(from + random.below(80))] };
        const expected = written.filter((each) => matches(where, each)).map(({ id }) => id).sort(); // prettier-ignore
        const found: string[] = [];
        let after: string | undefined;
        do {
          const asked = query(type, { where, count: 20 });
          const page = await store.find({ ...asked, total: 'cheap', ...(after !== undefined && { after }) });
          expect(page.total, JSON.stringify(where)).toBe(expected.length);
          found.push(...idsOf(page));
          after = page.next;
        } while (after !== undefined);
        expect(found.sort(), JSON.stringify(where)).toEqual(expected);
      }
    };
    await write(400, brief);
    await check();
    // One far from the other: each bound is fulfilled by another of them.
    await write(30, () => [of('when', date(random.below(200) * HOUR)), of('when', date((260 + random.below(220)) * HOUR))]); // prettier-ignore
    await check();
  });

  it('slow searches, however many, leave connections to others, and wait no longer than they may take', async () => {
    const BUDGET = 1500;
    const crowded = await openMongoStore(url, { slotOf, poolSize: 4, queryBudget: BUDGET });
    try {
      const any = Array.from({ length: 500 }, (_, n) => ({ is: 'token-code-begins' as const, lower: `q${n}x` }));
      const where: Condition = { not: { param: 'status', any } };
      const asked = query('Many', { where, total: 'accurate', sort: [key('token', false, 'who')] });
      const begun = performance.now();
      let underWay = 16;
      const searches = Array.from({ length: 16 }, () =>
        crowded.find(asked).then(() => 'found', (error: unknown) => (error as { status?: unknown }).status)
          .finally(() => underWay--)); // prettier-ignore
      let longest = 0;
      for (let n = 0; n < 10; n++) {
        const before = performance.now();
        expect((await crowded.read('Many', 'r0'))?.id).toBe('r0');
        longest = Math.max(longest, performance.now() - before);
        // Where it had to wait for a connection, it would have waited for all of them.
        if (n === 0) expect(underWay).toBeGreaterThan(8);
      }
      const ended = await Promise.all(searches);
      const took = performance.now() - begun;
      expect(ended.filter((each) => each === 503).length).toBeGreaterThan(8);
      expect(longest).toBeLessThan(atMost(BUDGET));
      expect(took).toBeLessThan(atMost(2 * BUDGET));
    } finally {
      await crowded.close();
    }
  });
}
