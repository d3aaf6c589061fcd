import { beforeAll, describe, expect, it } from 'vitest';

import type { IndexEntry } from '../../../runtime/indexing/entry.js';
import type { SortKey } from '../../../runtime/search/query/query.js';
import { CHEAP_TOTAL, type FindPage, type FindQuery, type Store } from '../../../runtime/store/store.js';
import { date, idsOf, key, number, of, query, sharedStore, text, token, walk } from './behaviour-search-helpers.js';
import { deletion, put, type Subject } from '../subject.js';

/** Pages, totals and cursors. https://hl7.org/fhir/R5/http.html#paging */
export function searchPageBehaviour(on: Subject): void {
  const subject = sharedStore(on);
  let store: Store;
  beforeAll(() => {
    ({ store } = subject);
  });

  /** Of 26 resources: some have no date, many share one, some have two; the names go the other way. */
  const entriesOf = (n: number): IndexEntry[] => [
    of('code', token(n % 2 === 0 ? 'even' : 'odd')),
    ...(n % 5 === 0 ? [] : [of('when', date((n % 4) * 10, (n % 4) * 10 + 5))]),
    ...(n % 6 === 1 ? [of('when', date(-n, 100 + n))] : []),
    of('name', text(`\u{1f525}${String.fromCharCode(200 - (n % 7))}`)),
    ...(n % 3 === 0 ? [of('count', number(-n / 3))] : []),
    of('loose', number(n % 4)),
  ];
  const ALL = Array.from('abcdefghijklmnopqrstuvwxyz');
  const fill = (type: string) => store.write(ALL.map((id, n) => put(id, 0, 'x', entriesOf(n), type)).reverse());

  const SORTS: readonly (readonly SortKey[])[] = [
    [],
    [key('id', true, '_id')],
    [key('date', false, 'when')],
    [key('date', true, 'when')],
    [key('string', true, 'name'), key('date', false, 'when')],
    [key('number', false, 'count'), key('string', false, 'name'), key('date', true, 'when')],
    [key('number', true, 'loose')],
    [key('token', true, 'code'), key('number', false, 'loose')],
    [key('number', false, 'never')],
    [key('updated', true), key('number', true, 'count')],
  ];
  const named = SORTS.map((sort, n) => ({ sort, type: `Walk${n}`, n }));

  it.each(named)('a walk on pages of any size is the unpaged order: $sort', async ({ sort, type }) => {
    await fill(type);
    const unpaged = await walk(store, query(type, { sort }));
    expect([...unpaged].sort()).toEqual(ALL);
    for (const count of [1, 2, 3, 7, 25, 26, 27]) {
      let pages = 0;
      expect(await walk(store, query(type, { sort, count }), () => pages++)).toEqual(unpaged);
      // The last page says that it is.
      expect(pages).toBe(Math.ceil(26 / count));
    }
    const where = { param: 'code', any: [{ is: 'token' as const, code: 'odd' }] };
    const odd = unpaged.filter((id) => ALL.indexOf(id) % 2 === 1);
    expect(await walk(store, query(type, { sort, where, count: 3 }))).toEqual(odd);
    expect(await walk(store, query(type, { sort, where: { not: where }, count: 4 }))).toEqual(
      unpaged.filter((id) => !odd.includes(id)),
    );
  });

  it.each(named)('nor repeats nor skips what nobody touches while others write: $sort', async ({ sort, n }) => {
    const type = `Busy${n}`;
    await fill(type);
    const unpaged = await walk(store, query(type, { sort }));
    const versions = new Map(ALL.map((id) => [id, 1]));
    const touched = new Set<string>();
    const seen: string[] = [];
    const totals = new Set<number | undefined>();
    const change = async (id: string, isDeleted: boolean, at: number): Promise<void> => {
      touched.add(id);
      const version = versions.get(id) ?? 0;
      versions.set(id, version + 1);
      await store.write([isDeleted ? deletion(id, version, type) : put(id, version, 'y', entriesOf(at), type)]);
    };
    let at = 100;
    await walk(store, query(type, { sort, count: 3, total: 'accurate' }), async (page) => {
      seen.push(...idsOf(page));
      totals.add(page.total);
      // The resource at the cursor goes, or changes its place; others come before and after it, and one ahead goes.
      const last = idsOf(page).at(-1)!;
      if (!versions.has(last)) return;
      await change(last, at % 2 === 0, at++);
      await change(`0${at}`, false, at++);
      await change(`zz${at}`, false, at++);
      const ahead = unpaged.find((id) => !seen.includes(id) && !touched.has(id));
      if (ahead !== undefined && at % 3 === 0) await change(ahead, true, at);
    });
    const untouched = (ids: readonly string[]): string[] => ids.filter((id) => !touched.has(id));
    // Without a sort pages come in any order.
    if (sort.length === 0) seen.sort();
    expect(untouched(seen)).toEqual(untouched(unpaged));
    expect(untouched(unpaged).length).toBeGreaterThan(8);
    expect([...totals]).toEqual([26]);
  });

  it('large pages by several values are full where resources have all of these', async () => {
    const ids = Array.from({ length: 500 }, (_, n) => `m${String(n).padStart(3, '0')}`);
    const entries = ['a', 'b', 'c'].map((code) => of('code', token(code)));
    await store.write(ids.map((id) => put(id, 0, 'x', entries, 'Several')));
    const any = ['a', 'b', 'c'].map((code) => ({ is: 'token' as const, code }));
    for (const count of [60, 200, 499, 500]) {
      expect(await walk(store, query('Several', { where: { param: 'code', any }, count }))).toEqual(ids);
    }
  });

  describe('totals', () => {
    const MANY = CHEAP_TOTAL.matches + 5;
    const isMany = { param: 'many', any: [{ is: 'token' as const, code: 'x' }] };
    beforeAll(async () => {
      await fill('Total');
      const entries = [of('many', token('x'))];
      await store.write(Array.from({ length: MANY }, (_, n) => put(`m${n}`, 0, 'x', entries, 'Many')));
    });

    it.each(['accurate', 'cheap'] as const)('%s: all matches, on each page', async (total) => {
      const totals: unknown[] = [];
      await walk(store, query('Total', { count: 5, total }), (page) => totals.push(page.total));
      expect(totals).toEqual([26, 26, 26, 26, 26, 26]);
      expect((await store.find(query('Total', { where: { some: [] }, total }))).total).toBe(0);
      expect((await store.find(query('Nothing', { total }))).total).toBe(0);
    });

    it('none: none', async () => {
      expect(await store.find(query('Total'))).not.toHaveProperty('total');
    });

    it('of no resources is all there is', async () => {
      const where = { param: 'code', any: [{ is: 'token' as const, code: 'odd' }] };
      const page = await store.find(query('Total', { where, count: 0, total: 'accurate' }));
      expect(page).toEqual({ versions: [], total: 13, complete: page.complete, moment: page.moment });
      expect(await store.find(query('Total', { where, count: 0, total: 'cheap' }))).toMatchObject({ total: 13 });
      const bare = await store.find(query('Total', { where, count: 0 }));
      expect(bare).toEqual({ versions: [], complete: bare.complete, moment: bare.moment });
    });

    it('accurate: however many there are', async () => {
      for (const where of [isMany, { all: [] }, { not: { ids: [] } }]) {
        expect((await store.find(query('Many', { where, count: 2, total: 'accurate' }))).total).toBe(MANY);
      }
    });

    it('cheap: known or unknown on all pages alike', async () => {
      const totals = new Set<number | undefined>();
      await walk(store, query('Many', { where: isMany, count: 300, total: 'cheap' }), (page) => totals.add(page.total));
      expect(totals.size).toBe(1);
      expect([undefined, MANY]).toContain([...totals][0]);
    });
  });

  describe('cursors', () => {
    const pages: FindPage[] = [];
    beforeAll(async () => {
      await fill('Cursor');
      for (const sort of SORTS) pages.push(await store.find(query('Cursor', { sort, count: 3 })));
    });

    it('are short', () => {
      for (const { next } of pages) expect(next?.length).toBeLessThan(1000);
    });

    it('of long texts that differ at their ends alone', async () => {
      const long = Array.from({ length: 4 }, (_, n) =>
        put(`l${n}`, 0, 'x', [of('name', text(`${'ä'.repeat(20_000)}${n % 2}`))], 'Long'),
      );
      await store.write(long);
      const asked = query('Long', { sort: [key('string', true, 'name')], count: 1 });
      expect(await walk(store, asked)).toEqual(['l1', 'l3', 'l0', 'l2']);
    });

    it.each([false, true])(
      'of long texts of what is gone, or has another by now; descending: %s',
      async (isDescending) => {
        const type = `Gone${isDescending}`;
        const named = (n: number): IndexEntry[] => [of('name', text(`${'long '.repeat(800)}${n}`))];
        await store.write([1, 2, 3, 4, 5, 6].map((n) => put(`g${n}`, 0, 'x', named(n), type)));
        const asked = query(type, { sort: [key('string', isDescending, 'name')], count: 2 });
        const seen: string[][] = [];
        await walk(store, asked, async (page) => {
          seen.push(idsOf(page));
          const last = idsOf(page)[1]!;
          if (seen.length === 1) await store.write([deletion(last, 1, type)]);
          if (seen.length === 2) await store.write([put(last, 1, 'y', named(isDescending ? 0 : 9), type)]);
        });
        const untouched = isDescending ? ['g6', 'g4', 'g2', 'g1'] : ['g1', 'g3', 'g5', 'g6'];
        expect(seen.flat().filter((id) => untouched.includes(id))).toEqual(untouched);
      },
    );

    it.each([
      '',
      ' ',
      'x',
      '0',
      '-1',
      'null',
      '{}',
      '[]',
      '[1]',
      '[[]]',
      'e30',
      'bnVsbA',
      'W10',
      '%00',
      '\u0000',
      "'",
      '{"$gt":""}',
      'a'.repeat(9000),
    ])('that are none are refused: %j', async (after) => {
      for (const sort of SORTS.slice(0, 5)) {
        await expect(store.find({ ...query('Cursor', { sort, count: 3 }), after })).rejects.toMatchObject({
          code: 'page-invalid',
          status: 400,
        });
      }
    });

    it('of another order are refused', async () => {
      for (const [from, to] of [
        [0, 2],
        [2, 0],
        [2, 4],
        [4, 5],
        [5, 7],
        [4, 2],
      ] as const) {
        // prettier-ignore
        const asked = query('Cursor', { sort: SORTS[to]!, count: 3 });
        await expect(store.find({ ...asked, after: pages[from]!.next! }), `${from} ${to}`).rejects.toMatchObject({
          code: 'page-invalid',
        });
      }
    });

    it('cut or altered are refused, or are cursors', async () => {
      const sort = SORTS[5]!;
      const next = pages[5]!.next!;
      for (let at = 0; at < next.length; at++) {
        for (const after of [
          next.slice(0, at),
          `${next.slice(0, at)}!${next.slice(at + 1)}`,
          next.slice(0, at) + next.slice(at + 1),
        ]) {
          const page = await store
            .find({ ...query('Cursor', { sort, count: 3 }), after })
            .catch((error: unknown) => error);
          if (page instanceof Error) expect(page, after).toMatchObject({ code: 'page-invalid' });
        }
      }
    });
  });

  describe('as lines', () => {
    const TYPE = 'Lines';
    const odd = { param: 'code', any: [{ is: 'token' as const, code: 'odd' }] };
    /** The lines of a walk, parsed, and how many pages it has. */
    async function linesOf(asked: FindQuery, until = Infinity): Promise<{ lines: string[]; pages: number }> {
      const all: string[] = [];
      for (let after: string | undefined, pages = 1; ; pages++) {
        const { lines, count, next } = await store.findLines(
          { ...asked, ...(after !== undefined && { after }) },
          until,
        );
        const text = Buffer.from(lines).toString();
        expect(text === '' || text.endsWith('\n')).toBe(true);
        const own = text.split('\n').slice(0, -1);
        expect(own).toHaveLength(count);
        all.push(...own);
        if (next === undefined) return { lines: all, pages };
        after = next;
      }
    }

    it('they are the texts that a walk finds, and nothing where there is nothing', async () => {
      await fill(TYPE);
      for (const more of [{}, { where: odd }, { sort: SORTS[2]! }]) {
        const texts = new Map((await store.find(query(TYPE, more))).versions.map(({ id, json = '' }) => [id, json]));
        for (const count of [1, 7, 26, 100]) {
          const { lines, pages } = await linesOf(query(TYPE, { ...more, count }));
          expect([...lines].sort()).toEqual([...texts.values()].sort());
          expect(pages).toBe(Math.ceil(texts.size / count));
        }
      }
      expect(await linesOf(query('Never'))).toEqual({ lines: [], pages: 1 });
    });

    it('what is newer is left out, what is deleted too, and pages go on after it', async () => {
      await fill('Newer');
      const { lastUpdated } = (await store.write([put('a', 1, 'new', [], 'Newer')]))[0]!;
      await store.write([deletion('b', 1, 'Newer')]);
      const { lines } = await linesOf(query('Newer', { count: 1 }), lastUpdated - 1);
      expect(lines.map((line) => (JSON.parse(line) as { id: string }).id).sort()).toEqual(ALL.slice(2));
      expect((await linesOf(query('Newer', { count: 3 }), lastUpdated)).lines).toHaveLength(25);
    });

    it('a text that spans lines is on one, and other characters are as they were', async () => {
      const write = put('n', 0, 'é\u{1f525}\n', [], 'Spans');
      const body = { head: write.body.head.replace(',', ',\r\n  '), tail: `${write.body.tail}\n` };
      await store.write([{ ...write, body }, put('o', 0, 'x', [], 'Spans')]);
      const { lines } = await linesOf(query('Spans'));
      expect(lines.map((line) => JSON.parse(line) as object)).toMatchObject([
        { id: 'n', text: 'é\u{1f525}\n' },
        { id: 'o', text: 'x' },
      ]);
    });

    it('large texts come on pages of their own', async () => {
      const large = 'é'.repeat(6 * 1024 * 1024);
      await store.write([put('l', 0, large, [], 'Large')]);
      await store.write([put('m', 0, large, [], 'Large')]);
      await store.write([put('s', 0, 'small', [], 'Large')]);
      const { lines } = await linesOf(query('Large'));
      expect(lines.map((line) => (JSON.parse(line) as { text: string }).text.length)).toEqual([
        large.length,
        large.length,
        5,
      ]);
    });
  });
}
