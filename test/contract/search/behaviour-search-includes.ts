import { beforeAll, describe, expect, it } from 'vitest';

import type { IndexEntry } from '../../../runtime/indexing/entry.js';
import type { FindPage, FindQuery, IncludeDirective, IncludePlan, Store } from '../../../runtime/store/store.js';
import { idsOf, query, sharedStore, walk } from './behaviour-search-helpers.js';
import { includeBoundsBehaviour } from './behaviour-search-include-bounds.js';
import { directive, INCLUDE_CASES, INCLUDED_RESOURCES, next } from './behaviour-search-include-cases.js';
import { coded, code, known, named, ref } from './behaviour-search-link-cases.js';
import { writeCase } from './behaviour-search-links.js';
import { deletion, put, type Subject } from '../subject.js';

/** Names of what came with a page, in order: `Type/id/version`. */
export function namesOf({ included }: FindPage): string[] | undefined {
  return included?.map(({ type, id, version }) => `${type}/${id}/${version}`).sort();
}

/** Resources that come with a page. https://hl7.org/fhir/R5/search.html#include */
export function searchIncludeBehaviour(on: Subject): void {
  const subject = sharedStore(on);
  let store: Store;
  beforeAll(async () => {
    ({ store } = subject);
    await writeCase(store, INCLUDED_RESOURCES);
    await store.write([put('o1', 1, 'second', [named('acme'), ref('part-of', 'Organization/o2')], 'Organization')]);
  });

  const plan = (directives: readonly IncludeDirective[], more: Partial<IncludePlan> = {}): IncludePlan => ({
    directives,
    most: 1000,
    rounds: 5,
    ...more,
  });

  /** A page with what comes with it, after a look at the rules that always hold. */
  async function pageOf(asked: FindQuery): Promise<FindPage> {
    const page = await store.find(asked);
    const { include, ...bare } = asked;
    const { versions, total } = await store.find(bare);
    expect([page.versions, page.total]).toEqual([versions, total]);
    const names = [...page.versions, ...(page.included ?? [])].map(({ type, id, version }) => `${type}/${id}/${version}`); // prettier-ignore
    expect(new Set(names).size, 'nothing comes twice').toBe(names.length);
    expect(page.included?.length).toBeLessThanOrEqual(include!.most);
    for (const each of page.included ?? []) {
      expect(each.json).toBeDefined();
      expect(each).toEqual(await store.readVersion(each.type, each.id, each.version));
    }
    return page;
  }

  it.each(INCLUDE_CASES)('$what', async ({ page, include, expected, cut, ...more }) => {
    const [type, ids] = page.split('/') as [string, string];
    const where = ids === '*' ? { all: [] } : { ids: ids.split('+') };
    const found = await pageOf(query(type, { where, include: plan(include, more) }));
    const names = expected.map((each) => (/\/\d+$/.test(each) ? each : `${each}/1`)).sort();
    expect(namesOf(found)).toEqual(names);
    expect(found.cut).toBe(cut);
  });

  includeBoundsBehaviour(() => store);

  describe('bounds', () => {
    /** Nodes in a row, from n0 to n9, then one that is deleted; and many that refer to one hub. */
    const NODES = 10;
    const MANY = 1200;
    beforeAll(async () => {
      const node = (n: number) => put(`n${n}`, 0, 'x', [ref('next', `Node/n${n + 1}`)], 'Node');
      await store.write(Array.from({ length: NODES + 1 }, (_, n) => node(n)));
      await store.write([deletion(`n${NODES}`, 1, 'Node')]);
      const dangling = Array.from({ length: 30 }, (_, n) => ref('to', `Spoke/${n % 2 === 0 ? 'none' : 'gone'}${n}`));
      const gone = Array.from({ length: 30 }, (_, n) => `gone${n}`);
      const hub: IndexEntry[] = [...dangling, ref('to', 'Spoke/m1'), ref('to', 'Spoke/m2'), ref('to', 'Spoke/m3')];
      await store.write(gone.map((id) => put(id, 0, 'x', [ref('hub', 'Hub/h')], 'Spoke')));
      await store.write(gone.map((id) => deletion(id, 1, 'Spoke')));
      const spoke = (n: number) => put(`m${n}`, 0, 'x', [ref('hub', 'Hub/h'), ref('own', `Own/w${n}`)], 'Spoke');
      const own = (n: number) => put(`w${n}`, 0, 'x', [], 'Own');
      await store.write([put('h', 0, 'x', hub, 'Hub'), ...Array.from({ length: MANY }, (_, n) => spoke(n))]);
      await store.write(Array.from({ length: MANY }, (_, n) => own(n)));
    }, 60_000);

    const iterated = [directive('Node:next', { iterates: true })];
    const nodes = (from: number, to: number): string[] =>
      Array.from({ length: to - from + 1 }, (_, n) => `Node/n${from + n}/1`);

    it.each([
      [0, 1, 'rounds'],
      [1, 2, 'rounds'],
      [5, 6, 'rounds'],
      [7, 8, 'rounds'],
      // Beyond the last one there is one that is deleted: nothing is left out.
      [8, 9, undefined],
      [9, 9, undefined],
      [20, 9, undefined],
    ] as const)('%i rounds lead to n%i, and it is said what is left out: %s', async (rounds, last, cut) => {
      const page = await pageOf(query('Node', { where: { ids: ['n0'] }, include: plan(iterated, { rounds }) }));
      expect(namesOf(page)).toEqual(nodes(1, last));
      expect(page.cut).toBe(cut);
    });

    it('what does not iterate has no rounds', async () => {
      const asked = query('Node', { where: { ids: ['n0'] }, include: plan([directive('Node:next')], { rounds: 0 }) });
      const page = await pageOf(asked);
      expect([namesOf(page), page.cut]).toEqual([['Node/n1/1'], undefined]);
    });

    it.each([
      [0, 0, 'most'],
      [1, 1, 'most'],
      [2, 2, 'most'],
      // What is not there, or not any more, takes no room.
      [3, 3, undefined],
      [4, 3, undefined],
    ] as const)('at most %i: %i of three, and %s is said', async (most, length, cut) => {
      const include = plan([directive('Hub:to')], { most });
      const page = await pageOf(query('Hub', { include }));
      expect(page.included).toHaveLength(length);
      expect(page.cut).toBe(cut);
      const nothing = await pageOf(query('Own', { where: { ids: ['w1'] }, include }));
      expect([nothing.included, nothing.cut]).toEqual([[], undefined]);
    });

    it('a thousand of more that refer to one', async () => {
      const page = await pageOf(query('Hub', { include: plan([directive('< Spoke:hub')]) }));
      expect(page.included).toHaveLength(1000);
      expect(page.cut).toBe('most');
      const all = await store.find(query('Hub', { include: plan([directive('< Spoke:hub')], { most: MANY }) }));
      expect([all.included?.length, all.cut]).toEqual([MANY, undefined]);
    });

    it('a thousand with a page of a thousand, and the page itself never again', async () => {
      const include = plan([directive('Spoke:own'), directive('< Spoke:own')]);
      const page = await store.find(query('Spoke', { count: 1000, include }));
      expect(page.cut).toBeUndefined();
      expect(new Set(namesOf(page))).toEqual(new Set(idsOf(page).map((id) => `Own/${id.replace('m', 'w')}/1`)));
      const back = await store.find(query('Own', { count: 1000, include }));
      expect(new Set(namesOf(back))).toEqual(new Set(idsOf(back).map((id) => `Spoke/${id.replace('w', 'm')}/1`)));
      // All but one of the thousand that may come are on the page already, or are told to be more.
      const round = plan([directive('Hub:to'), directive('< Spoke:hub', { iterates: true })], { most: 1150 });
      const hub = await store.find(query('Hub', { include: round }));
      expect([hub.included?.length, hub.cut]).toEqual([1150, 'most']);
    });

    it('a page that is nearly all that refers to one', async () => {
      const include = plan([directive('Spoke:hub'), directive('< Spoke:hub', { iterates: true })], { most: 300 });
      const page = await store.find(query('Spoke', { count: 1000, include }));
      const shown = new Set(idsOf(page));
      expect(page.included).toHaveLength(MANY - 1000 + 1);
      expect(page.included?.filter(({ type, id }) => type === 'Spoke' && shown.has(id))).toEqual([]);
      expect(page.cut).toBeUndefined();
    });
  });

  describe('pages', () => {
    beforeAll(async () => {
      await store.write(
        ['a', 'b', 'c'].map((id, n) => put(id, 0, 'x', [ref('to', `PageTo/${n < 2 ? 'one' : 'two'}`)], 'Page')),
      );
      await store.write([put('one', 0, 'x', [], 'PageTo'), put('two', 0, 'x', [], 'PageTo')]);
    });

    it('each brings its own, in a walk', async () => {
      const seen: unknown[] = [];
      const include = plan([directive('Page:to')]);
      await walk(store, query('Page', { count: 1, total: 'accurate', include }), (page) =>
        seen.push([...idsOf(page), ...namesOf(page)!, page.total]),
      );
      expect(seen).toEqual([['a', 'PageTo/one/1', 3], ['b', 'PageTo/one/1', 3], ['c', 'PageTo/two/1', 3]]); // prettier-ignore
      const both = await pageOf(query('Page', { count: 2, include }));
      expect(namesOf(both)).toEqual(['PageTo/one/1']);
    });

    it('nothing where nothing is asked for, none, or nothing there', async () => {
      expect(await store.find(query('Page'))).not.toHaveProperty('included');
      const include = plan([directive('Page:to')]);
      for (const asked of [
        query('Page', { count: 0, include }),
        query('Nobody', { include }),
        query('Page', { include: plan([]) }),
      ]) {
        // prettier-ignore
        const page = await pageOf(asked);
        expect([page.included, page.cut]).toEqual([[], undefined]);
      }
    });

    it('beside a condition with links', async () => {
      const where = { param: 'to', chain: [{ type: 'PageTo', where: { ids: ['one'] } }] };
      const page = await pageOf(
        query('Page', { where, include: plan([directive('Page:to'), directive('< Page:to')]) }),
      );
      expect([idsOf(page), namesOf(page)]).toEqual([['a', 'b'], ['PageTo/one/1']]);
    });
  });

  it('what is written is included, and what was is not', async () => {
    const include = plan([directive('Change:to'), directive('< Change:to')]);
    const names = async (id: string) => namesOf(await pageOf(query('Change', { where: { ids: [id] }, include })));
    const change = (id: string, version: number, ...to: string[]) =>
      put(id, version, 'x', [...to.map((each) => ref('to', each)), coded(id), ...known(`http://${id}`)], 'Change');
    await store.write([change('a', 0, 'Change/b'), change('b', 0)]);
    expect([await names('a'), await names('b')]).toEqual([['Change/b/1'], ['Change/a/1']]);
    await store.write([change('b', 1), change('c', 0, 'Change/b')]);
    expect([await names('a'), await names('b')]).toEqual([['Change/b/2'], ['Change/a/1', 'Change/c/1']]);
    await store.write([deletion('b', 2, 'Change'), change('a', 1, 'Change/c')]);
    expect([await names('a'), await names('c')]).toEqual([['Change/c/1'], ['Change/a/2']]);
    await store.write([change('b', 3)]);
    expect([await names('b'), await names('c')]).toEqual([['Change/c/1'], ['Change/a/2', 'Change/b/4']]);
    await store.reindex([{ type: 'Change', id: 'a', version: 2, entries: [ref('to', { url: 'http://b' })] }]);
    expect([await names('a'), await names('b')]).toEqual([['Change/b/4'], ['Change/a/2', 'Change/c/1']]);
  });

  it.each([
    ['ASCII', 'a', 1_170_000],
    ['three bytes for each character', '漢', 900_000],
  ])('large ones come all, or it is said that they do not: %s', async (name, letter, length) => {
    const type = `Large${length}`;
    const items = Array.from({ length: 14 }, (_, n) => `i${String(n).padStart(2, '0')}`);
    for (const id of items) await store.write([put(id, 0, letter.repeat(length), [], `${type}Item`)]);
    const references = [...items, 'small'].map((id) => ref('item', `${type}Item/${id}`));
    await store.write([put('small', 0, name, [], `${type}Item`), put('list', 0, name, references, type)]);
    const include = plan([directive(`${type}:item`)]);
    const { included = [], cut } = await pageOf(query(type, { where: { ids: ['list'] }, include }));
    if (cut === undefined) expect(included.map(({ id }) => id).sort()).toEqual([...items, 'small']);
    else expect([cut, included.length >= 4]).toEqual(['most', true]);
  });

  it('what comes with a page is of its snapshot', async () => {
    const pair = (version: number) => [
      put('s', version, `v${version}`, [coded(version % 2 === 0 ? 'even' : 'odd'), ref('to', 'Moving/t')], 'Moving'),
      put('t', version, `v${version}`, next('Moving/s'), 'Moving'),
    ];
    await store.write(pair(0));
    let isOver = false;
    const writing = (async () => {
      for (let version = 1; !isOver; version++) {
        await store.write(pair(version));
        await new Promise((done) => setImmediate(done));
      }
    })();
    const include = plan([directive('Moving:to'), directive('< Moving:next')]);
    const pages: FindPage[] = [];
    try {
      for (let n = 0; n < 60; n++) {
        const where = code(n % 2 === 0 ? 'even' : 'odd');
        pages.push(await store.find(query('Moving', { where, include, total: 'accurate' })));
        await new Promise((done) => setTimeout(done, n % 3));
      }
    } finally {
      isOver = true;
      await writing;
    }
    let shown = 0;
    for (const page of pages) {
      const versions = [...page.versions, ...page.included!].map(({ id, version }) => `${id}${version}`).sort();
      expect(page.total).toBe(page.versions.length);
      if (page.versions.length === 0) {
        expect(versions).toEqual([]);
        continue;
      }
      const { version } = page.versions[0]!;
      expect(versions).toEqual([`s${version}`, `t${version}`]);
      shown++;
    }
    expect(shown).toBeGreaterThan(10);
  });
}
