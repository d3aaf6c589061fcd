import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import type { IndexEntry } from '../../../runtime/indexing/entry.js';
import { printCondition, printSort } from '../../../runtime/search/query/print.js';
import type { Condition, SortKey } from '../../../runtime/search/query/query.js';
import { LINK_LIMITS, type LinkLimits } from '../../../runtime/store/mongo/query/links/limits.js';
import { openMongoStore } from '../../../runtime/store/mongo/mongo-store.js';
import type { Change, FindQuery, Store } from '../../../runtime/store/store.js';
import { describeOnMongod, newDatabase } from '../../mongod/for-tests.js';
import { createToyStore } from '../../toy/store.js';
import {
  idsOf,
  key,
  number,
  of,
  reference,
  slotOf,
  token,
  uri,
  walk,
} from '../../contract/search/behaviour-search-helpers.js';
import { createRandom, seedOfRun, type Random } from '../../contract/random.js';
import { deletion, put } from '../../contract/subject.js';

const TYPES = ['Alpha', 'Beta', 'Gamma'] as const;
const EACH = 60;
const SORTS: readonly (readonly SortKey[])[] = [
  [],
  [key('id', true, '_id')],
  [key('number', false, 'count')],
  [key('token', true, 'code')],
];

/** As they are; no side collected before it is known to be short; few of them, in small pieces. */
const LIMITS: Readonly<Record<string, LinkLimits>> = {
  'as they are': LINK_LIMITS,
  'no side collected': { few: 0, sorted: 0, most: 50_000, sides: { first: 2, most: 30, together: 3 } },
  'few of them': { few: 2, sorted: 9, most: 30, sides: { first: 4, most: 9, together: 2 } },
};

describeOnMongod('links on MongoDB', () => {
  const url = newDatabase();
  const toy = createToyStore();
  const seed = seedOfRun();
  const random = createRandom(seed);
  let store: Store;

  beforeAll(async () => {
    store = await openMongoStore(url, { slotOf });
    const all: Change[] = TYPES.flatMap((type) =>
      Array.from({ length: EACH }, (_, n) => put(`${n}`, 0, 'x', entries(random), type)),
    );
    const gone = TYPES.flatMap((type) => [3, 7, 20].map((n) => deletion(`${n}`, 1, type)));
    for (const changes of [all, gone]) {
      await toy.write(changes);
      await store.write(changes);
    }
  }, 60_000);
  afterAll(() => store.close());

  describe.each(Object.entries(LIMITS))('%s', (name, linkLimits) => {
    it('random searches find what the toy store does', async () => {
      const limited = await openMongoStore(url, { slotOf, linkLimits });
      const drawing = createRandom(seed + name.length);
      try {
        for (let n = 0; n < 80; n++) {
          const type = drawing.pick(TYPES);
          const where = condition(drawing, 3);
          const sort = drawing.pick(SORTS);
          const asked: FindQuery = { type, where, sort, count: 1 + drawing.below(40), total: drawing.pick(['accurate', 'none']) }; // prettier-ignore
          const what = `seed ${seed}, query ${n}: ${type} ${printCondition(where)} by ${printSort(sort)}, ${asked.count}`;
          const expected = await toy.find({ ...asked, count: 1000 });
          const totals = new Set<number | undefined>();
          const found = await walk(limited, asked, ({ total }) => totals.add(total)).catch((error: unknown) => {
            throw new Error(what, { cause: error });
          });
          expect(found, what).toEqual(idsOf(expected));
          expect([...totals], what).toEqual([asked.total === 'none' ? undefined : expected.versions.length]);
        }
      } finally {
        await limited.close();
      }
    }, 120_000);
  });
});

const CODES = ['a', 'b', 'c', 'd'];

function entries({ below, chance, pick, some }: Random): IndexEntry[] {
  const target = (): IndexEntry => {
    const form = below(10);
    const type = pick(TYPES);
    if (form === 0) return reference({ type, id: `${below(EACH)}`, base: 'http://x/fhir' });
    if (form === 1) return reference({ identifier: { value: 'v' } });
    if (form < 4) return reference({ url: `http://u/${below(6)}`, version: chance(0.5) ? pick(['1', '2']) : undefined, type: chance(0.2) ? type : undefined }); // prettier-ignore
    return reference({ type, id: `${below(EACH + 5)}`, version: chance(0.2) ? '1' : undefined });
  };
  return [
    of('code', token(pick(CODES))),
    ...some(3, () => of('count', number(below(9)))),
    ...some(2, () => of('to', target())),
    ...some(5, () => of('more', target())),
    ...(chance(0.3) ? [of('url', uri(`http://u/${below(6)}`))] : []),
    ...some(3, () => of('version', token(pick(['1', '2'])))),
  ];
}

function condition(random: Random, depth: number): Condition {
  const { below, chance, pick, some } = random;
  const inner = (): Condition => condition(random, depth - 1);
  const form = depth === 0 ? below(3) : below(10);
  if (form === 0) return { param: 'code', any: [{ is: 'token', code: pick(CODES) }] };
  if (form === 1) return { ids: some(4, () => `${below(EACH)}`) };
  if (form === 2) return { param: 'count', any: [{ is: 'number', low: { gt: below(9) } }] };
  if (form === 3) return { all: some(3, inner) };
  if (form === 4) return { some: [inner(), inner()] };
  if (form === 5) return { not: inner() };
  const param = pick(['to', 'more']);
  if (form < 8) return { param, chain: TYPES.filter(() => chance(0.5)).concat(['Never' as never]).map((type) => ({ type, where: inner() })) }; // prettier-ignore
  return { has: { type: pick(TYPES), param, where: inner() } };
}
