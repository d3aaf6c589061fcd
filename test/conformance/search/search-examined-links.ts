import { afterAll, beforeAll, expect, it } from 'vitest';

import { printCondition } from '../../../runtime/search/query/print.js';
import type { Condition } from '../../../runtime/search/query/query.js';
import type { Store } from '../../../runtime/store/store.js';
import { idsOf, of, query, token } from '../../contract/search/behaviour-search-helpers.js';
import { chain, code, coded, has, ref } from '../../contract/search/behaviour-search-link-cases.js';
import { put } from '../../contract/subject.js';

const PAGE = 20;
/** What may be looked at for a page, for each of its resources and of the matches of the most selective condition. */
const BOUND = 20;
/** Resources that are rare, on each side. */
const RARE = 10;

/** Subjects and their observations: one each, in another order than that of their ids. */
interface Crowd {
  readonly many: number;
  readonly isRare: (n: number) => boolean;
  readonly subjectOf: (n: number) => number;
  readonly observationOf: (n: number) => number;
}

function crowdOf(many: number): Crowd {
  const step = many / RARE;
  // Steps that have no divisor in common with the number, so that each subject has its turn.
  const [forth, back] = [7919, inverse(7919, many)];
  return {
    many,
    // Five of them are even.
    isRare: (n) => n % step === 3 + (Math.floor(n / step) % 2),
    subjectOf: (n) => Number((BigInt(n) * BigInt(forth)) % BigInt(many)),
    observationOf: (n) => Number((BigInt(n) * BigInt(back)) % BigInt(many)),
  };
}

function inverse(factor: number, modulus: number): number {
  let [a, b, x, y] = [factor, modulus, 1, 0];
  while (b !== 0) [a, b, x, y] = [b, a % b, y, x - Math.floor(a / b) * y];
  if (a !== 1) throw new Error(`${factor} and ${modulus} have a divisor in common`);
  return (x + modulus) % modulus;
}

interface Search {
  readonly type: 'Subject' | 'Report';
  /** All of these. */
  readonly where: readonly Condition[];
  readonly expected: (n: number) => boolean;
  /** Matches of the leaf that has the fewest. */
  readonly fewest: number;
}

/**
 * What chains and reverse chains look at, where many match on one side and ten on the other: in proportion to the ten.
 *
 * @param many resources of each of two types; a multiple of ten
 */
export function examinedLinks(open: () => Promise<Store>, many: number): void {
  const { isRare, subjectOf, observationOf } = crowdOf(many);
  const idOf = (n: number): string => `r${String(n).padStart(6, '0')}`;
  let store: Store;

  beforeAll(async () => {
    store = await open();
    const PIECE = Math.min(many, 1500);
    for (let from = 0; from < many; from += PIECE) {
      const numbers = Array.from({ length: Math.min(PIECE, many - from) }, (_, i) => from + i);
      await store.write(
        numbers.flatMap((n) => [
          put(idOf(n), 0, 'x', [coded(isRare(n) ? 'rare' : 'common'), of('half', token(`h${n % 2}`))], 'Subject'),
          put(idOf(n), 0, 'x', [coded(isRare(n) ? 'rare' : 'common'), of('half', token(`h${n % 2}`)), ref('subject', `Subject/${idOf(subjectOf(n))}`)], 'Report'), // prettier-ignore
        ]),
      );
    }
  }, 300_000);
  afterAll(() => store.close());

  const half = (n: number): Condition => ({ param: 'half', any: [{ is: 'token', code: `h${n}` }] });
  const ofSubject = (where: Condition): Condition => chain('subject', 'Subject', where);
  const hasReport = (where: Condition): Condition => has('Report', 'subject', where);
  const subjectIsRare = (n: number): boolean => isRare(subjectOf(n));
  const reportIsRare = (n: number): boolean => isRare(observationOf(n));
  const isCommon = (n: number): boolean => !isRare(n);
  const common = many - RARE;

  const SEARCHES: readonly Search[] = [
    { type: 'Report', where: [code('rare'), ofSubject(code('common'))], fewest: RARE, expected: (n) => isRare(n) && !subjectIsRare(n) }, // prettier-ignore
    { type: 'Report', where: [code('common'), ofSubject(code('rare'))], fewest: RARE, expected: (n) => isCommon(n) && subjectIsRare(n) }, // prettier-ignore
    { type: 'Report', where: [ofSubject(code('rare'))], fewest: RARE, expected: subjectIsRare },
    { type: 'Report', where: [ofSubject(code('common'))], fewest: common, expected: (n) => !subjectIsRare(n) },
    { type: 'Report', where: [code('common'), ofSubject(code('common'))], fewest: common, expected: (n) => isCommon(n) && !subjectIsRare(n) }, // prettier-ignore
    { type: 'Report', where: [half(0), code('common'), ofSubject(code('rare'))], fewest: RARE, expected: (n) => n % 2 === 0 && isCommon(n) && subjectIsRare(n) }, // prettier-ignore
    { type: 'Report', where: [half(1), code('rare'), ofSubject({ all: [half(1), code('common')] })], fewest: RARE, expected: (n) => n % 2 === 1 && isRare(n) && subjectOf(n) % 2 === 1 && !subjectIsRare(n) }, // prettier-ignore
    { type: 'Report', where: [ofSubject(half(0)), ofSubject(code('rare'))], fewest: RARE, expected: (n) => subjectOf(n) % 2 === 0 && subjectIsRare(n) }, // prettier-ignore
    { type: 'Report', where: [code('common'), ofSubject(hasReport(code('rare')))], fewest: RARE, expected: () => false }, // prettier-ignore
    { type: 'Report', where: [half(1), ofSubject(hasReport(code('rare')))], fewest: RARE, expected: (n) => n % 2 === 1 && isRare(n) }, // prettier-ignore
    { type: 'Subject', where: [code('rare'), hasReport(code('common'))], fewest: RARE, expected: (n) => isRare(n) && !reportIsRare(n) }, // prettier-ignore
    { type: 'Subject', where: [code('common'), hasReport(code('rare'))], fewest: RARE, expected: (n) => isCommon(n) && reportIsRare(n) }, // prettier-ignore
    { type: 'Subject', where: [hasReport(code('rare'))], fewest: RARE, expected: reportIsRare },
    { type: 'Subject', where: [hasReport(code('common'))], fewest: common, expected: (n) => !reportIsRare(n) },
    { type: 'Subject', where: [code('common'), hasReport(code('common'))], fewest: common, expected: (n) => isCommon(n) && !reportIsRare(n) }, // prettier-ignore
    { type: 'Subject', where: [half(0), code('rare'), hasReport({ all: [code('common'), half(1)] })], fewest: RARE, expected: (n) => n % 2 === 0 && isRare(n) && observationOf(n) % 2 === 1 && !reportIsRare(n) }, // prettier-ignore
    { type: 'Subject', where: [hasReport(half(1)), hasReport(code('rare'))], fewest: RARE, expected: (n) => observationOf(n) % 2 === 1 && reportIsRare(n) }, // prettier-ignore
    { type: 'Subject', where: [half(0), hasReport(ofSubject(code('rare')))], fewest: RARE, expected: (n) => n % 2 === 0 && isRare(n) }, // prettier-ignore
  ];

  it.each(SEARCHES.map((each) => ({ ...each, title: printCondition({ all: each.where }) })))(
    '$type: $title, in every order',
    async ({ type, where, expected, fewest }) => {
      const wanted = Array.from({ length: many }, (_, n) => n)
        .filter(expected)
        .map(idOf);
      const full = Math.min(PAGE, wanted.length);
      for (const all of ordersOf(where)) {
        const asked = query(type, { where: { all }, count: PAGE });
        const found = new Set(idsOf(await store.find(asked)));
        expect([found.size, [...found].every((id) => wanted.includes(id))], printCondition({ all })).toEqual([
          full,
          true,
        ]);
        const { examined, returned, driving } = await store.explain(asked);
        expect(examined, `${driving}: ${printCondition({ all })}`).toBeLessThanOrEqual(BOUND * (PAGE + fewest));
        expect(examined).toBeGreaterThanOrEqual(returned);
        expect(returned).toBe(full);
      }
    },
  );
}

/** Every order of a list. */
export function ordersOf<T>(list: readonly T[]): readonly (readonly T[])[] {
  if (list.length <= 1) return [list];
  return list.flatMap((first, i) => ordersOf(list.filter((_, j) => j !== i)).map((rest) => [first, ...rest]));
}
