import { EARTH_RADIUS, FURTHEST, type Point } from './sphere.js';

/**
 * The map of latitudes and longitudes in four quarters, each of them in four, and so on. The name of a cell is a digit from 0 to
 * 3 for each step, so that names of what lies within begin with it.
 */

/** A part of the map in degrees; east is not below west. */
export interface Box {
  readonly south: number;
  readonly west: number;
  readonly north: number;
  readonly east: number;
}

/** Steps to the cells that points are kept under: half a metre. */
const DEPTH = 26;

/** Cells that what is near a point is looked for in, at most: each is a range of an index. */
export const MAX_CELLS = 16;

/** Follows every name that begins with another one. */
export const AFTER_DIGITS = '4';

/** The cell of a point, as small as there is. */
export function cellOf({ latitude, longitude }: Point): string {
  return nameOf(DEPTH, column(longitude, DEPTH), row(latitude, DEPTH));
}

/** Cells that hold all that is within a distance of a point, in metres, and some more: none lies within another. */
export function cellsAround(point: Point, distance: number): string[] {
  const boxes = boxesAround(point, distance);
  return boxes.flatMap((box) => cover(box, MAX_CELLS / boxes.length));
}

/** The cell that a box is kept under: no smaller than it, with its south-western corner. */
export function cellOfBox(box: Box): string {
  const { south, north } = box;
  // What lies beyond the map is not looked for.
  const [west, east] = [Math.max(box.west, -180), Math.min(box.east, 180)];
  const depth = LEVELS.findLast((each) => {
    const cells = 2 ** each;
    // Rounded numbers must not make it wider than a cell.
    return (east - west) * cells <= 360 * 0.999 && (north - south) * cells <= 180 * 0.999;
  });
  return depth === undefined ? '' : nameOf(depth, column(west, depth), row(south, depth));
}

/** All cells that boxes which hold a point can be kept under. */
export function cellsOfBoxesAt({ latitude, longitude }: Point): string[] {
  const names = LEVELS.flatMap((depth) => {
    const [x, y] = [column(longitude, depth), row(latitude, depth)];
    const [columns, rows] = [[x - 1, x], [y - 1, y]].map((places) => places.filter((place) => place >= 0)); // prettier-ignore
    return columns!.flatMap((each) => rows!.map((other) => nameOf(depth, each, other)));
  });
  return [...new Set(['', ...names])];
}

/** How deep cells of boxes are: to some forty metres. */
const LEVELS: readonly number[] = Array.from({ length: 20 }, (_, i) => i + 1);

function column(longitude: number, depth: number): number {
  return placeIn((longitude + 180) / 360, depth);
}

function row(latitude: number, depth: number): number {
  return placeIn((latitude + 90) / 180, depth);
}

function placeIn(part: number, depth: number): number {
  const cells = 2 ** depth;
  return Math.min(cells - 1, Math.max(0, Math.floor(part * cells)));
}

function nameOf(depth: number, x: number, y: number): string {
  let name = '';
  for (let half = 2 ** (depth - 1); half >= 1; half /= 2) {
    name += (Math.floor(x / half) % 2) + 2 * (Math.floor(y / half) % 2);
  }
  return name;
}

/** Degrees that a box is made wider by, so that nothing at its edge is lost to rounding: a tenth of a metre. */
const SLACK = 1e-6;

/** What is within a distance lies in one box, or in two where the antimeridian divides it. */
function boxesAround({ latitude, longitude }: Point, distance: number): Box[] {
  if (distance >= FURTHEST) return [{ south: -90, west: -180, north: 90, east: 180 }];
  const angle = distance / EARTH_RADIUS;
  const reach = (angle * 180) / Math.PI + SLACK;
  const [south, north] = [latitude - reach, latitude + reach];
  // It goes around a pole.
  if (south <= -90 || north >= 90) {
    return [{ south: Math.max(south, -90), west: -180, north: Math.min(north, 90), east: 180 }];
  }
  const sine = Math.sin(angle) / Math.cos((latitude * Math.PI) / 180);
  const width = (Math.asin(Math.min(1, sine)) * 180) / Math.PI + SLACK;
  const [west, east] = [longitude - width, longitude + width];
  if (west < -180) return [{ south, west: -180, north, east }, { south, west: west + 360, north, east: 180 }]; // prettier-ignore
  if (east > 180) return [{ south, west, north, east: 180 }, { south, west: -180, north, east: east - 360 }]; // prettier-ignore
  return [{ south, west, north, east }];
}

/** The smallest cells of one depth that are no more than this many. */
function cover({ south, west, north, east }: Box, most: number): string[] {
  for (let depth = DEPTH; depth > 0; depth--) {
    const [left, right, low, high] = [column(west, depth), column(east, depth), row(south, depth), row(north, depth)];
    if ((right - left + 1) * (high - low + 1) > most) continue;
    const names: string[] = [];
    for (let x = left; x <= right; x++) for (let y = low; y <= high; y++) names.push(nameOf(depth, x, y));
    return joinQuarters(names);
  }
  return [''];
}

/** Four quarters are the cell that they are quarters of. */
function joinQuarters(names: readonly string[]): string[] {
  const byParent = new Map<string, string[]>();
  for (const name of names) {
    const parent = name.slice(0, -1);
    byParent.set(parent, [...(byParent.get(parent) ?? []), name]);
  }
  const joined = [...byParent].flatMap(([parent, quarters]) => (quarters.length === 4 ? [parent] : quarters));
  const isDone = joined.length === names.length || joined.includes('');
  return isDone ? joined.sort() : joinQuarters(joined);
}
