import { describe, expect, it } from 'vitest';

import type { Value } from '../../../../runtime/store/sqlite/query/compile/sql.js';
import { asSingleValues } from '../../../../runtime/store/sqlite/query/links/lists.js';

describe('alternatives as a list of single values', () => {
  it('are those that differ in one place', () => {
    const single = asSingleValues([
      [7, 'a', 3],
      [7, 'b', 3],
    ]);
    expect(single?.json).toBe('["a","b"]');
    expect([0, 1, 2].map((place) => single?.values(place))).toMatchObject([
      { text: '?', values: [7] },
      { text: 'v.value', values: [] },
      { text: '?', values: [3] },
    ]);
  });

  it.each<[string, Value[][]]>([
    [
      'they differ in two',
      [
        [7, 'a'],
        [8, 'b'],
      ],
    ],
    [
      'a third one differs elsewhere',
      [
        [7, 'a'],
        [7, 'b'],
        [8, 'b'],
      ],
    ],
    ['one has fewer values', [[7, 'a'], [7, 'b'], [7]]],
    [
      'SQLite ends a text of JSON at a zero',
      [
        [7, 'a'],
        [7, 'b\0c'],
      ],
    ],
    [
      'half a character is written in JSON, and bound as another one',
      [
        [7, 'a'],
        [7, '\ud800'],
      ],
    ],
    [
      'a number that is not whole may be read as its neighbour',
      [
        [7, 0.1],
        [7, 0.3],
      ],
    ],
    ['nothing stops a long list', Array.from({ length: 1001 }, (_, i) => [7, i])],
  ])('are none where %s', (_why, alternatives) => {
    expect(asSingleValues(alternatives)).toBeUndefined();
  });
});
