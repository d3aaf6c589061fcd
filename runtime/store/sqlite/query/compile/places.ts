import type { Database } from 'better-sqlite3';

import { AFTER_DIGITS, cellsAround, cellsOfBoxesAt } from '../../../../search/places/cells.js';
import { isAmong } from '../../../../search/places/regions.js';
import { squaredChord, toVector } from '../../../../search/places/sphere.js';
import type { PlaceTest } from '../../../../search/query/query.js';
import { column, ofParam, orderIn, TABLES, type RowTest, type Shape } from './shape.js';
import { and, sql, type Sql } from './sql.js';

const { position, region } = TABLES;

/** Near a point (values 3 to 5) by the square of a chord (value 6): found from value 1 on and below value 2. */
const NEAR: Shape = (() => {
  const isNear: Shape['predicate'] = (row, values) => {
    const square = (name: string, place: number): Sql => {
      const distance = sql`(${column(row, name)} - ${values(place)})`;
      return sql`${distance} * ${distance}`;
    };
    return sql`${square('x', 3)} + ${square('y', 4)} + ${square('z', 5)} <= ${values(6)}`;
  };
  const cell = (row: Sql): Sql => column(row, 'cell');
  return {
    name: 'position near',
    table: position,
    finding: 2,
    predicate: isNear,
    accesses: [
      {
        index: 'position_by_cell',
        order: orderIn('position_by_cell'),
        seek: (row, values) =>
          sql`${ofParam(position, row, values)} AND ${cell(row)} >= ${values(1)} AND ${cell(row)} < ${values(2)}`,
        open: (row, values) => sql`${ofParam(position, row, values)} AND ${cell(row)} < ${values(2)}`,
        rest: isNear,
      },
    ],
  };
})();

/** Around a point (latitude: value 2, longitude: value 3), kept under a cell (value 1). */
const AROUND: Shape = (() => {
  const isAround: Shape['predicate'] = (row, values) => {
    const [south, west, north, east, lines] = ['south', 'west', 'north', 'east', 'lines'].map((name) => column(row, name)); // prettier-ignore
    const [latitude, longitude] = [values(2), values(3)];
    return and([
      sql`${south!} <= ${latitude} AND ${north!} >= ${latitude}`,
      sql`${west!} <= ${longitude} AND ${east!} >= ${longitude}`,
      sql`kiln_among(${lines!}, ${longitude}, ${latitude})`,
    ]);
  };
  return {
    name: 'region around',
    table: region,
    finding: 1,
    predicate: isAround,
    accesses: [
      {
        index: 'region_by_cell',
        order: orderIn('region_by_cell', 1),
        seek: (row, values) => sql`${ofParam(region, row, values)} AND ${column(row, 'cell')} = ${values(1)}`,
        rest: isAround,
      },
    ],
  };
})();

/** A test of places as tests of one row each, of which a row has to fulfil some. */
export function placeTests(param: number, test: PlaceTest): readonly RowTest[] {
  if (test.is === 'near') {
    const { x, y, z } = toVector(test);
    const asked = [x, y, z, squaredChord(test.distance)];
    return cellsAround(test, test.distance).map((cell) => ({
      shape: NEAR,
      values: [param, cell, cell + AFTER_DIGITS, ...asked],
    }));
  }
  const { latitude, longitude } = test;
  return cellsOfBoxesAt(test).map((cell) => ({ shape: AROUND, values: [param, cell, latitude, longitude] }));
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
