import { expect, it } from 'vitest';

import type { ValueTest } from '../../../runtime/search/query/query.js';
import { openSlowQueryCache } from '../../../runtime/store/slow-query-cache.js';
import { shapeOf } from '../../../runtime/store/query-shape.js';
import type { FindQuery } from '../../../runtime/store/store.js';

function named(values: readonly string[], is: 'string-begins' | 'string-contains' = 'string-begins'): FindQuery {
  const any = values.map((folded): ValueTest => ({ is, folded }));
  return { type: 'Patient', where: { all: [{ param: 'name', any }] }, sort: [], count: 20, total: 'cheap' };
}

it('the shape of a query has its parameters and what is asked of them, and no value of a client', () => {
  const shape = shapeOf(named(['lovelace']));
  expect(shape).not.toContain('lovelace');
  expect(shapeOf({ ...named(['hopper']), count: 5 })).toBe(shape);
  expect(shapeOf(named(['hopper'], 'string-contains'))).not.toBe(shape);
  expect(shapeOf({ ...named(['hopper']), type: 'Practitioner' })).not.toBe(shape);
  expect(shapeOf({ ...named(['hopper']), total: 'accurate' })).not.toBe(shape);
});

it('lists of about as many values are alike, much longer ones are not', () => {
  const list = (length: number): FindQuery => named(Array.from({ length }, (_, n) => `n${n}`));
  expect(shapeOf(list(700))).toBe(shapeOf(list(900)));
  expect(shapeOf(list(700))).not.toBe(shapeOf(list(7)));
});

it('a shape is long for a minute after a query that was, or until one was short', () => {
  let now = 0;
  const shapes = openSlowQueryCache(100, () => now);
  const query = named(['a']);
  shapes.note(query, 99);
  expect(shapes.has(query)).toBe(false);
  shapes.note(query, 100);
  expect(shapes.has(named(['b']))).toBe(true);
  expect(shapes.has(named(['b'], 'string-contains'))).toBe(false);
  shapes.note(query, 50);
  expect(shapes.has(query)).toBe(true);
  shapes.note(named(['b']), 5);
  expect(shapes.has(query)).toBe(false);
  shapes.note(query, 100);
  now = 59_999;
  expect(shapes.has(query)).toBe(true);
  now = 60_000;
  expect(shapes.has(query)).toBe(false);
});
