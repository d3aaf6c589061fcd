import { afterAll, beforeAll, expect, it } from 'vitest';

import type { IndexEntry } from '../../../runtime/indexing/entry.js';
import { matches, type Candidate } from '../../../runtime/search/query/match.js';
import { printCondition } from '../../../runtime/search/query/print.js';
import type { Condition, SortKey } from '../../../runtime/search/query/query.js';
import { LINK_LIMITS } from '../../../runtime/store/mongo/query/links/limits.js';
import { openMongoStore } from '../../../runtime/store/mongo/mongo-store.js';
import type { FindQuery, Store } from '../../../runtime/store/store.js';
import { atMost } from '../../at-most.js';
import { describeOnMongod, newDatabase } from '../../mongod/for-tests.js';
import {
  date,
  idsOf,
  key,
  of,
  query,
  reference,
  slotOf,
  token,
  walk,
} from '../../contract/search/behaviour-search-helpers.js';
import { put } from '../../contract/subject.js';

/** Persons; each has two visits, ten of them have hundreds. */
const PERSONS = 4000;
const PAGE = 20;
const HOUR = 3_600_000;

describeOnMongod('the cost of links on MongoDB', () => {
  const url = newDatabase();
  let store: Store;
  const all = { Person: [] as Candidate[], Visit: [] as Candidate[], Clinic: [] as Candidate[] };
  type Type = keyof typeof all;

  beforeAll(async () => {
    store = await openMongoStore(url, { slotOf });
    const persons = Array.from({ length: PERSONS }, (_, n): IndexEntry[] => [
      of('half', token(n % 2 === 0 ? 'even' : 'odd')),
      of('fourth', token(`f${n % 4}`)),
      of('name', token(n % 400 === 7 ? 'ten' : `n${n % 3}`)),
      of('kind', token(n % 400 === 9 ? 'busy' : 'idle')),
      of('at', reference({ type: 'Clinic', id: `c${n % 5}` })),
    ]);
    const visits = Array.from({ length: 3 * PERSONS }, (_, n): IndexEntry[] => [
      of('code', token(n % 1200 === 5 ? 'rare' : 'common')),
      of('parity', token(n % 2 === 0 ? 'even' : 'odd')),
      of('when', date(n * HOUR, n * HOUR)),
      of(
        'who',
        reference({
          type: 'Person',
          id: `p${(n < 2 * PERSONS ? n : 9 + 400 * (n % 10)) % PERSONS}`,
        }),
      ),
    ]);
    const clinics = Array.from({ length: 5 }, (_, n) => [of('name', token(`c${n}`))]);
    for (const [type, made] of [
      ['Person', persons],
      ['Visit', visits],
      ['Clinic', clinics],
    ] as const) {
      for (let at = 0; at < made.length; at += 500) {
        const changes = made.slice(at, at + 500).map((entries, i) => put(`${type[0]!.toLowerCase()}${at + i}`, 0, 'x', entries, type)); // prettier-ignore
        const written = await store.write(changes);
        all[type].push(...written.map(({ id, lastUpdated }, i) => ({ id, lastUpdated, entries: changes[i]!.entries })));
      }
    }
  }, 120_000);
  afterAll(() => store.close());

  const code = (param: string, value: string): Condition => ({ param, any: [{ is: 'token', code: value }] });
  const who = (where: Condition): Condition => ({ param: 'who', chain: [{ type: 'Person', where }] });
  const at = (where: Condition): Condition => ({ param: 'at', chain: [{ type: 'Clinic', where }] });
  const visited = (where: Condition): Condition => ({ has: { type: 'Visit', param: 'who', where } });
  const both = (...parts: Condition[]): Condition => ({ all: parts });

  const CASES: readonly (readonly [Type, Condition])[] = [
    ['Visit', who(code('name', 'ten'))],
    ['Visit', who(code('name', 'n1'))],
    ['Visit', who(code('kind', 'busy'))],
    ['Visit', both(code('code', 'rare'), who(code('half', 'even')))],
    ['Visit', both(code('code', 'rare'), who(code('half', 'odd')))],
    ['Visit', both(code('code', 'common'), who(code('name', 'ten')))],
    ['Visit', both(code('code', 'common'), who(code('half', 'odd')))],
    ['Visit', { not: who(code('half', 'even')) }],
    ['Visit', both(code('code', 'rare'), who(at(code('name', 'c3'))))],
    ['Visit', both(code('code', 'rare'), who(visited(code('code', 'common'))))],
    ['Person', visited(code('code', 'rare'))],
    ['Person', visited(code('code', 'common'))],
    ['Person', both(code('name', 'ten'), visited(code('code', 'common')))],
    ['Person', both(code('kind', 'busy'), visited(code('code', 'common')))],
    ['Person', both(code('half', 'even'), visited(code('code', 'common')))],
    ['Person', both(code('half', 'even'), visited(code('parity', 'odd')))],
    ['Person', both(code('half', 'even'), visited(code('code', 'rare')))],
    ['Person', { not: visited(code('parity', 'odd')) }],
    ['Person', both(code('kind', 'busy'), visited(both(code('parity', 'odd'), code('code', 'rare'))))],
    ['Clinic', { has: { type: 'Person', param: 'at', where: visited(code('code', 'common')) } }],
    ['Clinic', { has: { type: 'Person', param: 'at', where: code('half', 'odd') } }],
  ];
  /** One or ten that lead to hundreds, and these to more: however it is done, more is looked at than the shortest leaf says. */
  const WIDENING: readonly (readonly [Type, Condition])[] = [
    ['Visit', who(at(code('name', 'c3')))],
    ['Visit', who(visited(code('code', 'rare')))],
    ['Visit', both(code('parity', 'odd'), who(at(code('name', 'c2'))))],
    // Nothing, which takes all of one side to know, after both were tried for a while.
    ['Visit', both(code('parity', 'even'), who(code('half', 'odd')))],
    ['Visit', both(code('parity', 'even'), who(both(code('half', 'even'), code('half', 'odd'))))],
  ];
  const SORTS: readonly (readonly SortKey[])[] = [[], [key('date', true, 'when')]];

  /** Matches of the leaf that by itself has the fewest, wherever it stands. */
  function fewest(type: Type, where: Condition): number {
    if ('all' in where) return Math.min(all[type].length, ...where.all.map((each) => fewest(type, each)));
    if ('not' in where) return all[type].length;
    if ('chain' in where)
      return Math.min(all[type].length, ...where.chain.map((each) => fewest(each.type as Type, each.where)));
    if ('has' in where) return Math.min(all[type].length, fewest(where.has.type as Type, where.has.where));
    return all[type].filter((each) => matches(where, each)).length;
  }

  const byKey = new Map<string, Candidate>();
  const visitsOf = new Map<string, Candidate[]>();
  const personsAt = new Map<string, Candidate[]>();
  const targetOf = ({ entries }: Candidate, param: string): string => {
    const entry = entries.find((each) => each.param === param);
    return entry?.kind === 'reference' ? `${entry.type}/${entry.id}` : '';
  };

  /** The plain way. */
  function fulfils(type: Type, where: Condition, one: Candidate): boolean {
    if (byKey.size === 0) {
      for (const each of ['Person', 'Visit', 'Clinic'] as const)
        for (const it of all[each]) byKey.set(`${each}/${it.id}`, it);
      for (const each of all.Visit)
        visitsOf.set(targetOf(each, 'who'), [...(visitsOf.get(targetOf(each, 'who')) ?? []), each]);
      for (const each of all.Person)
        personsAt.set(targetOf(each, 'at'), [...(personsAt.get(targetOf(each, 'at')) ?? []), each]);
    }
    if ('all' in where) return where.all.every((each) => fulfils(type, each, one));
    if ('not' in where) return !fulfils(type, where.not, one);
    if ('chain' in where)
      return where.chain.some((each) => fulfils(each.type as Type, each.where, byKey.get(targetOf(one, where.param))!));
    if (!('has' in where)) return matches(where, one);
    const sources = (where.has.type === 'Visit' ? visitsOf : personsAt).get(`${type}/${one.id}`) ?? [];
    return sources.some((source) => fulfils(where.has.type as Type, where.has.where, source));
  }

  const titled = (cases: typeof CASES) => cases.map(([type, where]) => ({ type, where, title: `${type} ${printCondition(where)}` })); // prettier-ignore

  it.each(titled([...CASES, ...WIDENING]))(
    'finds what there is, and its total: $title',
    { timeout: 60_000 },
    async ({ type, where }) => {
      const expected = all[type].filter((each) => fulfils(type, where, each)).map(({ id }) => id).sort(); // prettier-ignore
      const asked: FindQuery = query(type, { where, count: 1000, total: 'accurate' });
      const totals = new Set<number | undefined>();
      expect(await walk(store, asked, ({ total }) => totals.add(total))).toEqual(expected);
      expect([...totals]).toEqual([expected.length]);
      const small = await store.find({ ...asked, count: PAGE, total: 'cheap' });
      expect(idsOf(small)).toHaveLength(Math.min(PAGE, expected.length));
      expect(expected).toEqual(expect.arrayContaining(idsOf(small)));
      if (small.total !== undefined) expect(small.total).toBe(expected.length);
    },
  );

  it.each(titled(CASES))(
    'looks at no more than twenty-five times the page and the fewest matches: $title',
    async ({ type, where }) => {
      for (const sort of SORTS) {
        const { examined, ...told } = await store.explain(query(type, { where, sort, count: PAGE }));
        // Few of each side are looked at in any case, to see whether there are more.
        const bound = 25 * (PAGE + fewest(type, where)) + 4 * LINK_LIMITS.few;
        expect(examined, JSON.stringify(told).slice(0, 3000)).toBeLessThanOrEqual(bound);
      }
    },
  );

  it('what takes too long is stopped at the end of its budget, and nobody else waits for it', async () => {
    const BUDGET = 300;
    const hasty = await openMongoStore(url, {
      slotOf,
      queryBudget: BUDGET,
      linkLimits: { ...LINK_LIMITS, few: 0, sorted: 0, most: 0 },
    });
    try {
      const where = both(
        who(visited(code('parity', 'odd'))),
        { not: who(at(code('name', 'c3'))) },
        code('code', 'none2'),
      );
      const slow = query('Visit', { where: { some: [where, both(visited(code('code', 'rare')), code('code', 'common'))] }, count: 5, total: 'accurate' }); // prettier-ignore
      const begun = performance.now();
      const ended = hasty.find(slow).then(() => 'found', (error: unknown) => (error as { status?: unknown }).status); // prettier-ignore
      let longest = 0;
      for (let n = 0; n < 20; n++) {
        const before = performance.now();
        expect((await hasty.read('Person', 'p1'))?.id).toBe('p1');
        longest = Math.max(longest, performance.now() - before);
      }
      expect(await ended).toBe(503);
      expect(performance.now() - begun).toBeLessThan(atMost(3 * BUDGET));
      expect(longest).toBeLessThan(atMost(BUDGET));
      // Aborted: no command follows.
      const stop = new AbortController();
      const stopped = hasty.find(slow, stop.signal);
      stop.abort(new Error('gone'));
      await expect(stopped).rejects.toThrow('gone');
    } finally {
      await hasty.close();
    }
  });
});
