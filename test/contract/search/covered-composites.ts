import { expect } from 'vitest';

import type { IndexEntry } from '../../../runtime/indexing/entry.js';
import { matches } from '../../../runtime/search/query/match.js';
import type { Condition } from '../../../runtime/search/query/query.js';
import type { Store } from '../../../runtime/store/store.js';
import { composite, of, quantity, query, token, walk } from './behaviour-search-helpers.js';

const UCUM = 'http://unitsofmeasure.org';
const COVERED_BY = [
  { param: 'code', kind: 'token' },
  { param: 'amount', kind: 'quantity' },
] as const;

/** Entries of resource `n`: each code has amounts that others have, too; every tenth resource has none. */
export function coveredEntries(n: number, isCovered: boolean): IndexEntry[] {
  if (n % 10 === 0) return [of('code', token('none', 's'))];
  const code = token(`c${n % 7}`, 's');
  const value = n % 50;
  const amount = quantity({ value, system: UCUM, code: 'g', unit: 'g', canonical: { unit: 'g', value } });
  const both = of('code-amount', composite([code], [amount]));
  return [of('code', code), of('amount', amount), isCovered ? { ...both, isCovered } : both];
}

const ofCode = { is: 'token', code: 'c3' } as const;
const above = { is: 'quantity', low: { gte: 40 } } as const;

/** Every code with some amounts: more than a statement takes one by one. */
export function manyAlternatives(count: number): Condition {
  const alternatives = Array.from({ length: count }, (_, n) => {
    const code = { is: 'token', code: `c${n}`, ...(n % 2 === 0 && { system: 's' }) } as const;
    const amount = { is: 'quantity', low: { gte: n * 10 } } as const;
    return [[code], [amount]] as const;
  });
  return { param: 'code-amount', composite: alternatives, coveredBy: COVERED_BY };
}

/** Conditions on them, of which the first is found by both parameters. */
export const COVERED_CONDITIONS: readonly Condition[] = [
  { param: 'code-amount', composite: [[[ofCode], [above]]], coveredBy: COVERED_BY },
  { not: { param: 'code-amount', composite: [[[ofCode], [above]]], coveredBy: COVERED_BY } },
  {
    param: 'code-amount',
    composite: [
      [[{ ...ofCode, system: 's' }], [{ ...above, canonical: 'g' }]],
      [[{ is: 'token', code: 'c1' }], [above]],
    ],
    coveredBy: COVERED_BY,
  },
  manyAlternatives(200),
  { not: manyAlternatives(200) },
  { param: 'code-amount', present: 'composite', coveredBy: COVERED_BY },
  { not: { param: 'code-amount', present: 'composite', coveredBy: COVERED_BY } },
];

/** The store finds what `matches` says among these resources, the `n`-th of which has `coveredEntries(n)`. */
export async function expectCovered(store: Store, ids: readonly string[]): Promise<void> {
  for (const where of COVERED_CONDITIONS) {
    const expected = ids.filter((id, n) => matches(where, { id, lastUpdated: 0, entries: coveredEntries(n, true) }));
    expect(await walk(store, query('Measured', { where, count: 100 })), JSON.stringify(where)).toEqual(expected);
  }
}
