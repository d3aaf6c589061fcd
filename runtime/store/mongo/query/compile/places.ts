import type { Document } from 'mongodb';

import { AFTER_DIGITS, cellsAround, cellsOfBoxesAt } from '../../../../indexing/places/cells.js';
import { squaredChord, toVector } from '../../../../indexing/places/sphere.js';
import type { PlaceTest } from '../../../../search/query/query.js';
import { entryAccess } from '../plan/access.js';
import { NOTHING_COMPILED, type Compiled } from './compiled.js';

/**
 * Places are rows of tokens whose code is the cell that they are kept under: so they are found. What the cells leave open is an
 * expression on the rows, the same steps in the same order as `isWithinChord` and `isAmong`.
 */
export function compilePlaces(type: string, p: string, tests: readonly PlaceTest[]): Compiled {
  const points = tests.filter((test) => test.is === 'near');
  const cells = [...new Set(points.flatMap((test) => cellsAround(test, test.distance)))];
  const boxes = [...new Set(tests.filter((test) => test.is === 'around').flatMap(cellsOfBoxesAt))];
  const ranges = cells.map((cell) => ({ gte: cell, lt: cell + AFTER_DIGITS }));
  const isMet = tests.map((test) => (test.is === 'near' ? isNear(test) : isAround(test)));
  const rows = { $filter: { input: { $ifNull: ['$token', []] }, as: 'row', cond: { $and: [{ $eq: ['$$row.p', { $literal: p }] }, { $or: isMet }] } } }; // prettier-ignore
  const filter = { $and: [{ token: { $elemMatch: { p } } }, { $expr: { $gt: [{ $size: rows }, 0] } }] };
  if (ranges.length > 0) return { filter, ways: [entryAccess(type, 'token', p, { ranges })] };
  return boxes.length === 0 ? NOTHING_COMPILED : { filter, ways: [entryAccess(type, 'token', p, { values: boxes })] };
}

function isNear(test: PlaceTest & { readonly is: 'near' }): Document {
  const centre = toVector(test);
  const square = (name: 'x' | 'y' | 'z'): Document => {
    const distance = { $subtract: [`$$row.at.${name}`, centre[name]] };
    return { $multiply: [distance, distance] };
  };
  const chord = { $add: [{ $add: [square('x'), square('y')] }, square('z')] };
  // Below every number there is what is missing.
  return { $and: [{ $gt: ['$$row.at.x', null] }, { $lte: [chord, squaredChord(test.distance)] }] };
}

/** On a line, or east of it an odd number of lines is crossed. */
function isAround({ latitude: y, longitude: x }: PlaceTest): Document {
  const side = {
    $subtract: [
      { $multiply: [{ $subtract: ['$$line.x2', '$$line.x1'] }, { $subtract: [y, '$$line.y1'] }] },
      { $multiply: [{ $subtract: [x, '$$line.x1'] }, { $subtract: ['$$line.y2', '$$line.y1'] }] },
    ],
  };
  const isBetween = (low: string, high: string): Document => ({ $and: [{ $lte: [low, x] }, { $gte: [high, x] }] });
  const isOn = {
    $and: [{ $eq: ['$$side', 0] }, { $or: [isBetween('$$line.x1', '$$line.x2'), isBetween('$$line.x2', '$$line.x1')] }],
  };
  const isCrossed = { $and: [{ $gt: ['$$side', 0] }, { $gt: ['$$line.y2', y] }] };
  // 2: the point is on the line; 1: its ray crosses the line.
  const lineResult = { $let: { vars: { side }, in: { $cond: [isOn, 2, { $cond: [isCrossed, 1, 0] }] } } };
  const reached = { $and: [{ $lte: ['$$line.y1', y] }, { $gte: ['$$line.y2', y] }] };
  const lines = { $filter: { input: '$$row.lines', as: 'line', cond: reached } };
  const all = { $map: { input: lines, as: 'line', in: lineResult } };
  const crossed = { $size: { $filter: { input: '$$all', as: 'each', cond: { $eq: ['$$each', 1] } } } };
  const isWithin = { $or: [{ $in: [2, '$$all'] }, { $eq: [{ $mod: [crossed, 2] }, 1] }] };
  return {
    $and: [
      { $lte: ['$$row.south', y] },
      { $gte: ['$$row.north', y] },
      { $lte: ['$$row.west', x] },
      { $gte: ['$$row.east', x] },
      { $let: { vars: { all }, in: isWithin } },
    ],
  };
}
