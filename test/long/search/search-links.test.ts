import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';

import type { Condition } from '../../../runtime/search/query/query.js';
import type { Put, Store } from '../../../runtime/store/store.js';
import { idsOf, of, query, sharedStore, token, walk } from '../../contract/search/behaviour-search-helpers.js';
import { directive } from '../../contract/search/behaviour-search-include-cases.js';
import { all, ANY, chain, code, coded, has, not, ref } from '../../contract/search/behaviour-search-link-cases.js';
import { randomLinks } from '../../contract/search/behaviour-search-link-random.js';
import { randomScopes } from '../../contract/search/behaviour-search-scopes-random.js';
import { onMongo } from '../../contract/on-mongo.js';
import { seedOfRun } from '../../contract/random.js';
import { put, type Subject } from '../../contract/subject.js';
import { describeOnMongod } from '../../mongod/for-tests.js';
import { soak } from '../soak.js';

/** 1,500 queries with links on each store, 600 within scopes, and links that lead to more than a list may hold. */
function links(on: Subject): void {
  // What is found is what matters here, on a busy machine too.
  const subject = sharedStore(on, { queryBudget: 120_000 });

  it.each(Array.from({ length: 5 }, (_, n) => n))('random links find what matches says (%i)', async (n) => {
    await randomLinks(subject.store, `Random${n}`, seedOfRun() + n, soak(80));
  });

  it.each(Array.from({ length: 2 }, (_, n) => n))('within scopes they find what is visible (%i)', async (n) => {
    await randomScopes(subject.store, `Scoped${n}`, seedOfRun() + n, soak(80));
  });

  describe('more than a list may hold', () => {
    /** More than the 50,000 that may be collected, on each side. */
    const MANY = 51_000;
    const idOf = (n: number): string => `m${String((n * 7) % MANY).padStart(5, '0')}`;
    const order = Array.from({ length: MANY }, (_, n) => n).sort((a, b) => (idOf(a) < idOf(b) ? -1 : 1));
    const isRare = (n: number): boolean => n % 6000 === 77;
    const partnerOf = (n: number): number => (n * 11) % MANY;
    const sourceOf = new Map(Array.from({ length: MANY }, (_, n) => [partnerOf(n), n]));
    const common = code('common');
    let store: Store;

    beforeAll(async () => {
      ({ store } = subject);
      await writeMany(store, MANY, (n) => [
        put(idOf(n), 0, 'x', [coded(isRare(n) ? 'rare' : 'common'), of('tenth', token(`t${n % 10}`))], 'One'),
        put(idOf(n), 0, 'x', [coded(isRare(n) ? 'rare' : 'common'), ref('to', `One/${idOf(partnerOf(n))}`)], 'Two'),
      ]);
    });

    const toOne = (where: Condition): Condition => chain('to', 'One', where);
    const fromTwo = (where: Condition): Condition => has('Two', 'to', where);
    const SEARCHES: readonly (readonly [type: string, where: Condition, expected: (n: number) => boolean])[] = [
      ['Two', toOne(common), (n) => !isRare(partnerOf(n))],
      ['Two', toOne(code('rare')), (n) => isRare(partnerOf(n))],
      ['Two', all(code('rare'), toOne(common)), (n) => isRare(n) && !isRare(partnerOf(n))],
      ['Two', all(common, toOne(code('rare'))), (n) => !isRare(n) && isRare(partnerOf(n))],
      ['Two', not(toOne(common)), (n) => isRare(partnerOf(n))],
      ['Two', toOne({ param: 'tenth', any: [{ is: 'token', code: 't3' }] }), (n) => partnerOf(n) % 10 === 3],
      ['Two', toOne(fromTwo(common)), (n) => !isRare(n)],
      ['One', fromTwo(common), (n) => !isRare(sourceOf.get(n)!)],
      ['One', fromTwo(code('rare')), (n) => isRare(sourceOf.get(n)!)],
      ['One', all(code('rare'), fromTwo(common)), (n) => isRare(n) && !isRare(sourceOf.get(n)!)],
      ['One', all(common, fromTwo(code('rare'))), (n) => !isRare(n) && isRare(sourceOf.get(n)!)],
      ['One', not(fromTwo(common)), (n) => isRare(sourceOf.get(n)!)],
      ['One', fromTwo(toOne(common)), (n) => !isRare(n)],
      ['One', fromTwo(ANY), () => true],
    ];

    it.each(SEARCHES.map(([type, where, expected], n) => ({ n, type, where, expected })))(
      '$n: $type $where',
      async ({ type, where, expected }) => {
        const wanted = order.filter(expected).map(idOf);
        const page = await store.find(query(type, { where, count: 50, total: 'none' }));
        const found = new Set(idsOf(page));
        expect([page.versions.length, found.size]).toEqual([Math.min(50, wanted.length), page.versions.length]);
        expect(wanted.filter((id) => found.has(id))).toHaveLength(found.size);
        const total = await store.find(query(type, { where, count: 0, total: 'accurate' }));
        expect(total.total).toBe(wanted.length);
        if (wanted.length < 20_000) expect(await walk(store, query(type, { where }))).toEqual(wanted);
      },
    );
  });

  it('what comes with a page is no more than answers hold', async () => {
    const SIZE = 1024 * 1024;
    const large = Array.from({ length: 80 }, (_, n) => `l${n}`);
    for (const id of large) await subject.store.write([put(id, 0, 'x'.repeat(SIZE), [ref('to', 'Hub/h')], 'Large')]);
    await subject.store.write([put('h', 0, 'x', [], 'Hub')]);
    const include = { directives: [directive('< Large:to')], most: 1000, rounds: 5 };
    const page = await subject.store.find(query('Hub', { include }));
    expect(page.cut).toBe('most');
    expect(page.included!.length).toBeGreaterThan(3);
    expect(page.included!.length).toBeLessThan(80);
  });
}

async function writeMany(store: Store, many: number, make: (n: number) => readonly Put[]): Promise<void> {
  const PIECE = 1000;
  for (let from = 0; from < many; from += PIECE) {
    await store.write(Array.from({ length: PIECE }, (_, i) => make(from + i)).flat());
  }
}

describe('on SQLite', () => {
  links({ name: 'SQLite', url: (place) => `sqlite:${join(place, 'kiln.db')}`, isShared: true });
});
describeOnMongod('on MongoDB', () => links(onMongo));
