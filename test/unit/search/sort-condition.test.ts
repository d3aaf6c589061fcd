import { describe, expect, it } from 'vitest';

import { printCondition } from '../../../runtime/search/query/print.js';
import type { Condition } from '../../../runtime/search/query/query.js';
import { sortCondition } from '../../../runtime/search/query/sort-condition.js';

const token = (...codes: string[]): Condition => ({
  param: 'code',
  any: codes.map((code) => ({ is: 'token' as const, code })),
});
const print = (condition: Condition): string => printCondition(sortCondition(condition));

describe('conditions that are alike but for their order', () => {
  const name: Condition = { param: 'name', any: [{ is: 'string-begins', folded: 'a' }] };

  it.each<[string, Condition, Condition]>([
    ['criteria in another order', { all: [name, token('x')] }, { all: [token('x'), name] }],
    ['a criterion twice', { all: [name, token('x'), name] }, { all: [token('x'), name] }],
    ['one criterion, twice', { all: [name, name] }, name],
    ['alternatives in another order, or twice', token('x', 'y', 'x'), token('y', 'x')],
    ['ids in another order', { ids: ['b', 'a'] }, { ids: ['a', 'b', 'b'] }],
    ['what is not to be', { not: token('x', 'y') }, { not: token('y', 'x') }],
    ['parts of parts', { all: [{ some: [token('x'), name] }] }, { some: [name, token('x')] }],
    [
      'times',
      { updated: [{ low: { gt: 2 } }, { low: { gt: 1 } }] },
      { updated: [{ low: { gt: 1 } }, { low: { gt: 2 } }] },
    ],
  ])('become the same: %s', (_name, one, other) => {
    expect(print(one)).toBe(print(other));
    expect(print(sortCondition(one))).toBe(print(one));
  });

  it.each<[string, Condition, Condition]>([
    ['AND and OR', { all: [name, token('x')] }, { some: [name, token('x')] }],
    ['one value and two', token('x'), token('x', 'y')],
    ['two criteria and two values', { all: [token('x'), token('y')] }, token('x', 'y')],
    ['everything and nothing', { all: [] }, { some: [] }],
    [
      'parts of a composite',
      { param: 'c', composite: [[[{ is: 'token', code: 'x' }], [{ is: 'token', code: 'y' }]]] },
      { param: 'c', composite: [[[{ is: 'token', code: 'y' }], [{ is: 'token', code: 'x' }]]] },
    ],
  ])('stay apart: %s', (_name, one, other) => {
    expect(print(one)).not.toBe(print(other));
  });
});
