import { beforeEach, expect, it } from 'vitest';

import type { IndexEntry } from '../../runtime/indexing/entry.js';
import { matches, type Candidate } from '../../runtime/search/query/match.js';
import type { Condition, SortKey } from '../../runtime/search/query/query.js';
import { compareBy } from '../toy/compare-by.js';
import { openMongoStore } from '../../runtime/store/mongo/mongo-store.js';
import type { FindPage, FindQuery, Store } from '../../runtime/store/store.js';
import { describeOnMongod } from '../mongod/for-tests.js';
import { onMongo } from './on-mongo.js';
import { createRandom, seedOfRun } from './random.js';
import { date, idsOf, key, of, query, slotOf, text, token } from './search/behaviour-search-helpers.js';
import { deletion, put, useStore } from './subject.js';

const TYPE = 'Observation';
const COUNT = 4;
const BY_DATE: readonly SortKey[] = [key('date', true, 'when')];
const where: Condition = { param: 'code', any: [{ is: 'token', code: 'a', system: 's' }] };

const entriesOf = (when: number | undefined, code = 'a'): IndexEntry[] => [
  of('code', token(code, 's')),
  of('name', text(`n${(when ?? 0) % 3}`)),
  ...(when === undefined ? [] : [of('when', date(when, when))]),
];

describeOnMongod('sorted pages of a process on MongoDB beside which another writes', () => {
  const subject = useStore(onMongo);
  /** The process that pages, and another process that writes. */
  let reader: Store;
  let writer: Store;

  beforeEach(async () => {
    reader = subject.keep(await openMongoStore(subject.url, { slotOf }));
    writer = subject.keep(await openMongoStore(subject.url, { slotOf }));
  });

  const asked = (more: Partial<FindQuery> = {}): FindQuery =>
    query(TYPE, { where, sort: BY_DATE, count: COUNT, total: 'accurate', ...more });

  const fill = (count: number): Promise<unknown> =>
    writer.write(Array.from({ length: count }, (_, n) => put(`r${n}`, 0, 'x', entriesOf(n), TYPE)));

  async function walk(onPage?: (page: number) => Promise<unknown>): Promise<FindPage[]> {
    const pages = [await reader.find(asked())];
    for (let next = pages[0]!.next; next !== undefined; next = pages.at(-1)!.next) {
      await onPage?.(pages.length);
      pages.push(await reader.find(asked({ after: next })));
    }
    return pages;
  }

  it('have what another process writes between two pages', async () => {
    await fill(12);
    const pages = await walk(async (page) => {
      if (page !== 1) return;
      await writer.write([
        put('new', 0, 'x', entriesOf(5), TYPE),
        put('r7', 1, 'x', entriesOf(0), TYPE),
        put('r6', 1, 'x', entriesOf(6, 'b'), TYPE),
        put('r4', 1, 'changed', entriesOf(4), TYPE),
        deletion('r3', 1, TYPE),
        put('none', 0, 'x', entriesOf(undefined), TYPE),
      ]);
    });
    expect(pages.map(idsOf)).toEqual([
      ['r11', 'r10', 'r9', 'r8'],
      ['new', 'r5', 'r4', 'r2'],
      ['r1', 'r0', 'r7', 'none'],
    ]);
    expect(pages[1]!.versions.find(({ id }) => id === 'r4')).toMatchObject({ version: 2 });
  });

  it('are each resource once where much was written', async () => {
    await fill(20);
    const pages = await walk(async (page) => {
      if (page === 1) await writer.write(Array.from({ length: 250 }, (_, n) => put(`s${n}`, 0, 'x', entriesOf(-n), TYPE))); // prettier-ignore
    });
    expect(pages.flatMap(idsOf)).toHaveLength(270);
    expect(new Set(pages.flatMap(idsOf)).size).toBe(270);
  });

  it('are others when another process reindexes, amends, or removes for good', async () => {
    await fill(12);
    expect((await walk()).length).toBe(3);
    await writer.reindex([{ type: TYPE, id: 'r0', version: 1, entries: entriesOf(100) }]);
    expect(idsOf(await reader.find(asked()))).toEqual(['r0', 'r11', 'r10', 'r9']);
    const { json: before } = (await writer.read(TYPE, 'r1'))!;
    const { body, content } = put('r1', 0, 'amended', [], TYPE);
    const amendment = { type: TYPE, id: 'r1', version: 1, before: before!, body, content, entries: entriesOf(99) };
    expect(await writer.amend(amendment)).toBe(true);
    expect(idsOf(await reader.find(asked()))).toEqual(['r0', 'r1', 'r11', 'r10']);
    await writer.expunge({ type: TYPE, id: 'r11', current: true, limit: 10 });
    const page = await reader.find(asked());
    expect([idsOf(page), page.total]).toEqual([['r0', 'r1', 'r10', 'r9'], 11]);
  });

  it('are those of the search that is asked for', async () => {
    await fill(12);
    await walk();
    const mine: Condition = { all: [where, { ids: ['r3', 'r5', 'r7', 'r8', 'r9'] }] };
    expect(idsOf(await reader.find(asked({ where: mine })))).toEqual(['r9', 'r8', 'r7', 'r5']);
    const upwards = { sort: [key('date', false, 'when')] };
    expect(idsOf(await reader.find(asked(upwards)))).toEqual(['r0', 'r1', 'r2', 'r3']);
  });

  it('of several searches at once are each of one moment', { timeout: 60_000 }, async () => {
    const upwards = { sort: [key('date', false, 'when')] };
    await fill(12);
    const random = createRandom(seedOfRun());
    const dates = new Map(Array.from({ length: 12 }, (_, n) => [`r${n}`, { version: 1, when: n }]));
    for (let round = 0; round < 60; round++) {
      const id = `r${random.below(12)}`;
      const { version } = dates.get(id)!;
      // Each date once, so that there is one order.
      const when = 1000 + round * 2 * (random.chance(0.5) ? 1 : -1);
      const finds = [asked(), asked(upwards), asked(), asked(upwards)].map((each) => reader.find(each));
      const write = writer.write([put(id, version, 'x', entriesOf(when), TYPE)]);
      const before = [...dates].sort(([, a], [, b]) => b.when - a.when).map(([name]) => name);
      dates.set(id, { version: version + 1, when });
      const after = [...dates].sort(([, a], [, b]) => b.when - a.when).map(([name]) => name);
      for (const [i, page] of (await Promise.all(finds)).entries()) {
        const of = (names: readonly string[]) => (i % 2 === 0 ? names : names.toReversed()).slice(0, COUNT);
        expect([of(before), of(after)]).toContainEqual(idsOf(page));
      }
      await write;
    }
  });

  it('are what matches says, whatever is written', { timeout: 60_000 }, async () => {
    const seed = seedOfRun();
    const random = createRandom(seed);
    const present = new Map<string, { candidate: Candidate; version: number }>();
    const sorts: readonly (readonly SortKey[])[] = [
      BY_DATE,
      [key('date', false, 'when')],
      [key('string', false, 'name'), key('date', true, 'when')],
    ];
    const change = async (): Promise<void> => {
      const id = `r${random.below(40)}`;
      const entries = entriesOf(random.chance(0.2) ? undefined : random.below(15), random.pick(['a', 'a', 'b']));
      const store = random.pick([reader, writer]);
      const old = present.get(id);
      if (old !== undefined && random.chance(0.2)) {
        await store.reindex([{ type: TYPE, id, version: old.version, entries }]);
        present.set(id, { ...old, candidate: { ...old.candidate, entries } });
        return;
      }
      if (old !== undefined && random.chance(0.3)) {
        await store.write([deletion(id, old.version, TYPE)]);
        await store.expunge({ type: TYPE, id, deleted: true, limit: 100 });
        present.delete(id);
        return;
      }
      const [written] = await store.write([put(id, old?.version ?? 0, 'x', entries, TYPE)]);
      const { version, lastUpdated } = written!;
      present.set(id, { candidate: { id, lastUpdated, entries }, version });
    };
    for (let n = 0; n < 30; n++) await change();
    for (let round = 0; round < 25; round++) {
      const sort = random.pick(sorts);
      const compare = compareBy(sort);
      let after: string | undefined;
      let last: Candidate | undefined;
      do {
        const all = [...present.values()].map(({ candidate }) => candidate);
        const expected = all.filter((each) => matches(where, each)).sort(compare);
        const page = await reader.find(asked({ sort, ...(after !== undefined && { after }) }));
        const rest = expected.filter((each) => last === undefined || compare(each, last) > 0);
        expect(idsOf(page), `seed ${seed}, round ${round}`).toEqual(rest.slice(0, COUNT).map(({ id }) => id));
        if (after === undefined) expect(page.total).toBe(expected.length);
        last = rest[COUNT - 1];
        after = page.next;
        for (let n = random.below(3); n > 0; n--) await change();
      } while (after !== undefined);
    }
  });
});
