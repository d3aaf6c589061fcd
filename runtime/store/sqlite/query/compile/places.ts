import type { Database } from 'better-sqlite3';

import { AFTER_DIGITS, cellsAround, cellsOfBoxesAt } from '../../../../indexing/places/cells.js';
import { isAmong } from '../../../../indexing/places/regions.js';
import { squaredChord, toVector } from '../../../../indexing/places/sphere.js';
import type { PlaceTest } from '../../../../search/query/query.js';
import type { RowTest } from './shape.js';
import { other, rowTest } from './terms.js';

/** A test of places as tests of one row each, of which a row has to fulfil some. */
export function placeTests(param: number, test: PlaceTest): readonly RowTest[] {
  if (test.is === 'near') {
    const { x, y, z } = toVector(test);
    const isNear = other`($.x - ${x}) * ($.x - ${x}) + ($.y - ${y}) * ($.y - ${y}) + ($.z - ${z}) * ($.z - ${z})
      <= ${squaredChord(test.distance)}`;
    return cellsAround(test, test.distance).map((cell) =>
      rowTest('position_by_cell', param, {
        found: [
          ['cell', '>=', cell],
          ['cell', '<', cell + AFTER_DIGITS],
        ],
        rest: [isNear],
      }),
    );
  }
  const { latitude, longitude } = test;
  const isAround = other`$.south <= ${latitude} AND $.north >= ${latitude} AND $.west <= ${longitude}
    AND $.east >= ${longitude} AND kiln_among($.lines, ${longitude}, ${latitude})`;
  return cellsOfBoxesAt(test).map((cell) =>
    rowTest('region_by_cell', param, { found: [['cell', '=', cell]], rest: [isAround] }),
  );
}

/** Makes the function that says whether a point lies among the lines of a strip, which SQL cannot. */
export function defineAmong(db: Database): void {
  db.function('kiln_among', { deterministic: true }, (lines: unknown, x: unknown, y: unknown) => {
    const { buffer, byteOffset, byteLength } = lines as Buffer;
    // Doubles begin at multiples of their size only.
    const numbers = new Float64Array(buffer.slice(byteOffset, byteOffset + byteLength));
    return isAmong(numbers, Number(x), Number(y)) ? 1 : 0;
  });
}
