import { beforeAll, expect, it } from 'vitest';

import { printCondition } from '../../../runtime/search/query/print.js';
import type { Condition, SortKey } from '../../../runtime/search/query/query.js';
import type { FindQuery, Store } from '../../../runtime/store/store.js';
import { date, idsOf, key, number, of, query, sharedStore, walk } from './behaviour-search-helpers.js';
import { all, ANY, code, coded, ids, not, ref, some } from './behaviour-search-link-cases.js';
import { put, type Subject } from '../subject.js';

/** Links with few on one side and many on the other, in both directions; what they find follows from how they were made. */
export function searchLinkCrowdBehaviour(on: Subject): void {
  const subject = sharedStore(on);
  let store: Store;
  beforeAll(async () => {
    ({ store } = subject);
    await writeCrowd(store);
  }, 60_000);

  it.each(CROWD_SEARCHES.map((each) => ({ ...each, title: printCondition(each.where) })))(
    '$type: $title',
    async ({ type, where, expected }) => {
      const wanted = crowd().filter(expected);
      const orders: readonly (readonly [readonly SortKey[], (a: Member, b: Member) => number])[] = [
        [[], (a, b) => (a.id < b.id ? -1 : 1)],
        [[key('number', true, 'count')], (a, b) => b.n - a.n],
        [[key('date', false, 'when')], (a, b) => (a.n % 7) - (b.n % 7) || (a.id < b.id ? -1 : 1)],
      ];
      for (const [sort, compare] of orders) {
        const order = [...wanted].sort(compare).map(({ id }) => id);
        const asked: FindQuery = query(type, { where, sort, total: 'accurate' });
        const { versions, total } = await store.find({ ...asked, count: 15 });
        const shown = idsOf({ versions });
        expect(total).toBe(wanted.length);
        if (sort.length > 0) expect(shown).toEqual(order.slice(0, 15));
        else
          expect([shown.length, shown.every((id) => order.includes(id))]).toEqual([Math.min(15, order.length), true]);
        expect(await walk(store, { ...asked, total: 'none', count: 501 })).toEqual(order);
      }
    },
  );
}

/** More than a thousand on each side. */
const CROWD = 1300;

interface Member {
  readonly id: string;
  readonly n: number;
}

/** `One` and `Two`: one of each refers to one of the other; ten of each are rare. */
function crowd(): Member[] {
  return Array.from({ length: CROWD }, (_, n) => ({ id: `m${(n * 7) % CROWD}`, n }));
}
const isRare = (n: number): boolean => n % 130 === 7;
/** Whom the n-th of `Two` refers to. */
const partnerOf = (n: number): number => (n * 11) % CROWD;
const sourceOf = new Map(Array.from({ length: CROWD }, (_, n) => [partnerOf(n), n]));

async function writeCrowd(store: Store): Promise<void> {
  const idOf = (n: number): string => `m${(n * 7) % CROWD}`;
  // What is alike in an order comes by id, or as it is written here.
  const byId = crowd().sort((a, b) => (a.id < b.id ? -1 : 1));
  const changes = ['One', 'Two'].flatMap((type) =>
    byId.map(({ id, n }) =>
      put(
        id,
        0,
        'x',
        [
          coded(isRare(n) ? 'rare' : 'common'),
          of('count', number(n)),
          of('when', date(n % 7, n % 7)),
          ...(type === 'Two' ? [ref('to', `One/${idOf(partnerOf(n))}`), ref('hub', 'One/m0')] : []),
        ],
        type,
      ),
    ),
  );
  for (let at = 0; at < changes.length; at += 650) await store.write(changes.slice(at, at + 650));
}

interface CrowdSearch {
  readonly type: string;
  readonly where: Condition;
  readonly expected: (member: Member) => boolean;
}

const to = (where: Condition): Condition => ({ param: 'to', chain: [{ type: 'One', where }] });
const from = (where: Condition, param = 'to'): Condition => ({ has: { type: 'Two', param, where } });
const partnerIsRare = ({ n }: Member): boolean => isRare(partnerOf(n));
const sourceIsRare = ({ n }: Member): boolean => isRare(sourceOf.get(n)!);

const CROWD_SEARCHES: readonly CrowdSearch[] = [
  { type: 'Two', where: to(code('rare')), expected: partnerIsRare },
  { type: 'Two', where: to(code('common')), expected: (each) => !partnerIsRare(each) },
  { type: 'Two', where: to(ANY), expected: () => true },
  { type: 'Two', where: not(to(ANY)), expected: () => false },
  { type: 'Two', where: not(to(code('common'))), expected: partnerIsRare },
  { type: 'Two', where: all(code('rare'), to(code('common'))), expected: (each) => isRare(each.n) && !partnerIsRare(each) }, // prettier-ignore
  { type: 'Two', where: all(to(code('rare')), code('common')), expected: (each) => !isRare(each.n) && partnerIsRare(each) }, // prettier-ignore
  { type: 'Two', where: all(code('common'), not(to(code('rare')))), expected: (each) => !isRare(each.n) && !partnerIsRare(each) }, // prettier-ignore
  { type: 'Two', where: some(code('rare'), to(code('rare'))), expected: (each) => isRare(each.n) || partnerIsRare(each) }, // prettier-ignore
  { type: 'Two', where: to(from(code('common'))), expected: (each) => !isRare(each.n) },
  { type: 'Two', where: to(from(code('rare'), 'hub')), expected: ({ n }) => partnerOf(n) === 0 },
  { type: 'One', where: from(code('rare')), expected: sourceIsRare },
  { type: 'One', where: from(code('common')), expected: (each) => !sourceIsRare(each) },
  { type: 'One', where: from(ANY), expected: () => true },
  { type: 'One', where: not(from(code('common'))), expected: sourceIsRare },
  { type: 'One', where: all(code('rare'), from(code('common'))), expected: (each) => isRare(each.n) && !sourceIsRare(each) }, // prettier-ignore
  { type: 'One', where: all(from(code('rare')), code('common')), expected: (each) => !isRare(each.n) && sourceIsRare(each) }, // prettier-ignore
  { type: 'One', where: from(ANY, 'hub'), expected: ({ n }) => n === 0 },
  { type: 'One', where: from(code('rare'), 'hub'), expected: ({ n }) => n === 0 },
  { type: 'One', where: all(not(from(ANY, 'hub')), from(ANY)), expected: ({ n }) => n !== 0 },
  { type: 'One', where: from(to(code('common'))), expected: ({ n }) => !isRare(n) },
  { type: 'One', where: from(to(ids('m0', 'm7')), 'hub'), expected: ({ n }) => n === 0 },
];
