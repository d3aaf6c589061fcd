import { expect, it } from 'vitest';

import { keyOf } from '../../../../runtime/store/sqlite/query/compile/sql.js';

it('values that are not the same have keys that are not', () => {
  const values = [
    Infinity,
    -Infinity,
    NaN,
    'Infinity',
    '["Infinity"]',
    'null',
    0,
    '0',
    '',
    1e300,
    '1e+300',
    'a',
    '\u0000',
  ];
  const lists = [...values.map((value) => [value]), [], ['a', 'b'], ['a,b'], ['a","b'], ['a', 0, 'b']];
  expect(new Set(lists.map(keyOf)).size).toBe(lists.length);
  expect(keyOf(['a', 1, -Infinity])).toBe(keyOf(['a', 1, -Infinity]));
});
