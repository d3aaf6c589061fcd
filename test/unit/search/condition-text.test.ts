import { expect, it } from 'vitest';

import type { Condition } from '../../../runtime/search/query/query.js';
import { conditionText } from '../../../runtime/store/condition-text.js';

const ofValue = (gt?: number): Condition => ({
  param: 'value-quantity',
  any: [{ is: 'quantity', low: gt === undefined ? {} : { gt } }],
});
const ofToken = (system?: string | null): Condition => ({
  param: 'code',
  any: [{ is: 'token', code: 'a', ...(system !== undefined && { system }) }],
});

it('conditions have texts of their own, also where they have infinite bounds, no system, or none that may be', () => {
  const all = [
    ofValue(),
    ofValue(0),
    ofValue(Infinity),
    ofValue(-Infinity),
    ofToken(),
    ofToken(null),
    ofToken('null'),
    ofToken(''),
    { not: ofToken(null) },
    { all: [ofToken(null), ofValue(Infinity)] },
    { all: [ofToken(null), ofValue(-Infinity)] },
    { some: [ofToken(null), ofValue(Infinity)] },
  ];
  expect(new Set(all.map(conditionText)).size).toBe(all.length);
  expect(conditionText(ofValue(Infinity))).toBe(conditionText(ofValue(Infinity)));
});
