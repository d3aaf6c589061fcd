import { beforeAll, describe, expect, it } from 'vitest';

import { printCondition } from '../../../runtime/search/query/print.js';
import type { Condition } from '../../../runtime/search/query/query.js';
import type { Store } from '../../../runtime/store/store.js';
import { idsOf, key, query, sharedStore, sortedIdsOf, walk } from './behaviour-search-helpers.js';
import {
  all,
  ANY,
  chain,
  has,
  known,
  LINK_CASES,
  name,
  named,
  ref,
  type LinkCase,
} from './behaviour-search-link-cases.js';
import { deletion, put, type Subject } from '../subject.js';

/** Chains and reverse chains. https://hl7.org/fhir/R5/search.html#chaining, #has */
export function searchLinkBehaviour(on: Subject): void {
  const subject = sharedStore(on);
  let store: Store;
  beforeAll(() => {
    ({ store } = subject);
  });

  describe.each(LINK_CASES)('$name', (linkCase) => {
    beforeAll(() => writeCase(store, linkCase));

    it.each(linkCase.findings)('%s', async (_what, type, where, expected) => {
      const wanted = expected === '' ? [] : expected.split(' ');
      const page = await store.find(query(type, { where, total: 'accurate' }));
      expect(sortedIdsOf(page), printCondition(where)).toEqual([...wanted].sort());
      expect(page.total).toBe(wanted.length);
      expect(page.versions).toEqual(await store.readMany(idsOf(page).map((id) => ({ type, id }))));
    });

    it('the same one by one, in both orders, with cheap totals', async () => {
      for (const [what, type, where, expected] of linkCase.findings) {
        const wanted = expected === '' ? [] : expected.split(' ');
        for (const [sort, order] of [
          [[], [...wanted].sort()],
          [[key('id', true, '_id')], [...wanted].reverse()],
        ] as const) {
          const totals = new Set<number | undefined>();
          const asked = query(type, { where, sort, count: 1, total: 'cheap' });
          expect(await walk(store, asked, ({ total }) => totals.add(total)), what).toEqual(order);
          // A cheap one may be unknown, but on all pages alike.
          expect(totals.size, what).toBe(1);
          expect([undefined, wanted.length], what).toContain([...totals][0]);
        }
      }
    });
  });

  describe('what is written is found, and what was is not', () => {
    /** Who finds the patient by its organization, and the organization by its patient. */
    async function found(n: number, where: Condition): Promise<string> {
      const chained = await store.find(query(`P${n}`, { where: chain('organization', `O${n}`, where) }));
      const having = await store.find(query(`O${n}`, { where: all(where, has(`P${n}`, 'organization', ANY)) }));
      return [...sortedIdsOf(chained), ...sortedIdsOf(having)].join(' ');
    }

    it('a target is updated, deleted, revived', async () => {
      const target = (version: number, ...names: string[]) => put('o', version, 'x', names.map(named), 'O1');
      await store.write([put('p', 0, 'x', [ref('organization', 'O1/o')], 'P1')]);
      expect(await found(1, ANY)).toBe('');
      await store.write([target(0, 'first')]);
      expect(await found(1, name('first'))).toBe('p o');
      await store.write([target(1, 'second')]);
      expect(await found(1, name('first'))).toBe('');
      expect(await found(1, name('second'))).toBe('p o');
      await store.write([deletion('o', 2, 'O1')]);
      expect(await found(1, ANY)).toBe('');
      await store.write([target(3, 'third')]);
      expect(await found(1, name('second'))).toBe('');
      expect(await found(1, name('third'))).toBe('p o');
      await store.reindex([{ type: 'O1', id: 'o', version: 4, entries: [named('fourth')] }]);
      expect(await found(1, name('third'))).toBe('');
      expect(await found(1, name('fourth'))).toBe('p o');
    });

    it('a reference comes, changes, goes', async () => {
      const source = (version: number, ...to: string[]) =>
        put('p', version, 'x', to.map((each) => ref('organization', each)), 'P2'); // prettier-ignore
      await store.write([put('o', 0, 'x', [named('o')], 'O2'), put('q', 0, 'x', [named('q')], 'O2'), source(0)]);
      expect(await found(2, ANY)).toBe('');
      await store.write([source(1, 'O2/o')]);
      expect(await found(2, ANY)).toBe('p o');
      await store.write([source(2, 'O2/q')]);
      expect(await found(2, ANY)).toBe('p q');
      expect(await found(2, name('o'))).toBe('');
      await store.write([source(3, 'O2/q', 'O2/o', 'O2/o')]);
      expect(await found(2, ANY)).toBe('p o q');
      await store.write([deletion('p', 4, 'P2')]);
      expect(await found(2, ANY)).toBe('');
      await store.write([source(5, 'O2/o')]);
      expect(await found(2, ANY)).toBe('p o');
      await store.reindex([{ type: 'P2', id: 'p', version: 6, entries: [ref('organization', 'O2/q')] }]);
      expect(await found(2, ANY)).toBe('p q');
    });

    it('a canonical gets another url, another version', async () => {
      const target = (version: number, url: string, ...versions: string[]) =>
        put('o', version, 'x', known(url, ...versions), 'O3');
      const [bare, fixed] = [{ url: 'http://u' }, { url: 'http://u', version: '2' }];
      await store.write([put('p', 0, 'x', [ref('organization', bare)], 'P3')]);
      await store.write([put('r', 0, 'x', [ref('organization', fixed)], 'P3'), target(0, 'http://u')]);
      expect(await found(3, ANY)).toBe('p o');
      await store.write([target(1, 'http://u', '2')]);
      expect(await found(3, ANY)).toBe('p r o');
      await store.write([target(2, 'http://u', '3')]);
      expect(await found(3, ANY)).toBe('p o');
      await store.write([target(3, 'http://v', '2')]);
      expect(await found(3, ANY)).toBe('');
    });

    it('both in one write', async () => {
      await store.write([
        put('p', 0, 'x', [ref('organization', 'O4/o')], 'P4'),
        put('o', 0, 'x', [named('o'), ref('organization', 'P4/p')], 'O4'),
      ]);
      expect(await found(4, name('o'))).toBe('p o');
      await store.write([deletion('p', 1, 'P4'), deletion('o', 1, 'O4')]);
      expect(await found(4, ANY)).toBe('');
    });
  });
}

/** Writes what a case is about, the last one first. */
export async function writeCase(store: Store, { resources, deleted = [], revived = {} }: LinkCase): Promise<void> {
  const at = (name: string): [type: string, id: string] => name.split('/') as [string, string];
  const changes = Object.entries(resources).map(([place, entries]) => put(at(place)[1], 0, 'x', entries, at(place)[0]));
  await store.write(changes.reverse());
  const gone = [...deleted, ...Object.keys(revived)].map(at);
  if (gone.length > 0) await store.write(gone.map(([type, id]) => deletion(id, 1, type)));
  const again = Object.entries(revived).map(([place, entries]) => put(at(place)[1], 2, 'y', entries, at(place)[0]));
  if (again.length > 0) await store.write(again);
}
