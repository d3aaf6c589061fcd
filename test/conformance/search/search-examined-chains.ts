import { afterAll, beforeAll, expect, it } from 'vitest';

import { printCondition } from '../../../runtime/search/query/print.js';
import type { Condition } from '../../../runtime/search/query/query.js';
import type { Store } from '../../../runtime/store/store.js';
import { idsOf, of, query, token } from '../../contract/search/behaviour-search-helpers.js';
import { chain, code, coded, has, ref } from '../../contract/search/behaviour-search-link-cases.js';
import { put } from '../../contract/subject.js';

const PAGE = 20;
/** What may be looked at for a page, for each of its resources and of those on every side of the links. */
const BOUND = 20;
const HOUSES = 100;

interface Search {
  readonly type: string;
  readonly where: readonly Condition[];
  /** What fulfils the most selective leaf, then what each link leads to from there, up to the type that is searched. */
  readonly sides: readonly number[];
  /** Of the type that is searched. */
  readonly expected: (n: number) => boolean;
  /** So much of a type that a page of it is met sooner than all of it is collected. */
  readonly isGoodPart?: boolean;
}

/**
 * What chains look at that begin at few resources, lead to more, and from there to many: in proportion to all of these, not
 * to what else there is. See docs/search-cost.md.
 *
 * @param many reports; there are a tenth as many subjects; a multiple of 1000
 * @param walks whether the store walks by id where it is the shorter way
 */
export function examinedChains(open: () => Promise<Store>, many: number, walks: boolean): void {
  const subjects = many / 10;
  const idOf = (n: number): string => `r${String(n).padStart(6, '0')}`;
  const houseOf = (subject: number): number => (subject * 37) % HOUSES;
  // Every subject has ten reports, far from each other by id.
  const subjectOf = (report: number): number => report % subjects;
  let store: Store;

  beforeAll(async () => {
    store = await open();
    const houses = Array.from({ length: HOUSES }, (_, n) => {
      const codes = [...(n === 7 ? ['one'] : []), ...(n % 10 === 0 ? ['tenth'] : []), ...(n % 2 === 0 ? ['half'] : [])];
      return put(idOf(n), 0, 'x', codes.map(coded), 'House');
    });
    await store.write(houses);
    const PIECE = 1000;
    for (let from = 0; from < many; from += PIECE) {
      const reports = Array.from({ length: PIECE }, (_, i) => from + i);
      const some = reports.filter((n) => n < subjects);
      await store.write([
        ...some.map((n) => put(idOf(n), 0, 'x', [ref('house', `House/${idOf(houseOf(n))}`)], 'Subject')),
        ...reports.map(
          (n) =>
          put(idOf(n), 0, 'x', [of('half', token(`h${n % 2}`)), ref('subject', `Subject/${idOf(subjectOf(n))}`), ...(n % (many / 10) === 5 ? [coded('rare')] : [])], 'Report'), // prettier-ignore
        ),
      ]);
    }
  }, 300_000);
  afterAll(() => store.close());

  const inHouse = (where: Condition): Condition => chain('house', 'House', where);
  const ofSubject = (where: Condition): Condition => chain('subject', 'Subject', where);
  const half: Condition = { param: 'half', any: [{ is: 'token', code: 'h1' }] };
  const houseIs = (test: (house: number) => boolean) => (report: number) => test(houseOf(subjectOf(report)));
  const isOne = houseIs((house) => house === 7);

  const SEARCHES: readonly Search[] = [
    { type: 'Subject', where: [inHouse(code('one'))], sides: [1, subjects / 100], expected: (n) => houseOf(n) === 7 },
    { type: 'Report', where: [ofSubject(inHouse(code('one')))], sides: [1, subjects / 100, many / 100], expected: isOne }, // prettier-ignore
    { type: 'Report', where: [half, ofSubject(inHouse(code('one')))], sides: [1, subjects / 100, many / 100], expected: (n) => n % 2 === 1 && isOne(n) }, // prettier-ignore
    { type: 'Report', where: [ofSubject(inHouse(code('tenth')))], sides: [10, subjects / 10, many / 10], expected: houseIs((house) => house % 10 === 0) }, // prettier-ignore
    { type: 'Report', where: [ofSubject(inHouse(code('half')))], sides: [50, subjects / 2, many / 2], isGoodPart: true, expected: houseIs((house) => house % 2 === 0) }, // prettier-ignore
    { type: 'House', where: [has('Subject', 'house', has('Report', 'subject', code('rare')))], sides: [10, 1, 1], expected: (n) => n === houseOf(5) }, // prettier-ignore
  ];

  it.each(SEARCHES.map((each) => ({ ...each, title: printCondition({ all: each.where }) })))(
    '$type: $title',
    async ({ type, where, sides, expected, isGoodPart }) => {
      const all = { House: HOUSES, Subject: subjects }[type] ?? many;
      const wanted = Array.from({ length: all }, (_, n) => n).filter(expected);
      expect(wanted.length).toBeLessThanOrEqual(sides.at(-1)!);
      const asked = query(type, { where: { all: where }, count: PAGE });
      const found = new Set(idsOf(await store.find(asked)));
      const ids = new Set(wanted.map(idOf));
      expect([found.size, [...found].every((id) => ids.has(id))]).toEqual([Math.min(PAGE, wanted.length), true]);
      const { examined, driving } = await store.explain(asked);
      const bound = BOUND * (PAGE + sides.reduce((sum, count) => sum + count));
      expect(examined, driving).toBeLessThanOrEqual(bound);
      if (walks && isGoodPart === true) expect(examined, driving).toBeLessThan(wanted.length);
    },
  );
}
