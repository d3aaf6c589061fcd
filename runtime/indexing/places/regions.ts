import type { Box } from './cells.js';
import type { Point } from './sphere.js';

/**
 * A horizontal strip of a region: of the lines around it those that have a point in the strip. Each is four numbers, longitude
 * and latitude of its southern end (of both at one latitude the western one), then of the other.
 */
export interface Strip extends Box {
  readonly lines: readonly number[];
}

/** Longitudes and latitudes of the corners of a ring, the last equal to the first. */
export type Ring = readonly (readonly [longitude: number, latitude: number])[];

/** Lines of a strip, more or less: so many are looked at to know whether a point lies within. */
const ENOUGH = 64;

/**
 * Takes a region apart into strips. Its rings are outlines and holes: within is what an odd number of them is around.
 * Strips overlap at their edges alone.
 */
export function stripsOf(rings: readonly Ring[]): Strip[] {
  const lines = rings.flatMap(linesOf).sort((a, b) => a[1]! - b[1]!);
  for (let count = Math.ceil(lines.length / ENOUGH); ; count = Math.ceil(count / 2)) {
    const ends = endsOf(lines, count);
    // Lines from the north to the south would be in every strip.
    if (count <= 1 || countIn(ends, lines) <= 2 * lines.length) return split(lines, ends);
  }
}

function linesOf(ring: Ring): number[][] {
  return ring.slice(1).map(([x, y], i) => {
    const [fromX, fromY] = ring[i]!;
    const isUpwards = fromY < y || (fromY === y && fromX <= x);
    return isUpwards ? [fromX, fromY, x, y] : [x, y, fromX, fromY];
  });
}

/** Where a strip begins and ends. */
type Ends = readonly [south: number, north: number];

/** Strips with as many southern ends of lines in each. @param lines in the order of these */
function endsOf(lines: readonly number[][], count: number): Ends[] {
  const top = lines.reduce((most, line) => Math.max(most, line[3]!), -Infinity);
  const begins = Array.from({ length: count }, (_, i) => lines[Math.floor((i * lines.length) / count)]![1]!);
  const edges = [...new Set([...begins, top])];
  return edges.length === 1 ? [[top, top]] : edges.slice(1).map((north, i) => [edges[i]!, north]);
}

/** Lines of all strips. */
function countIn(ends: readonly Ends[], lines: readonly number[][]): number {
  const reached = (line: readonly number[]): number => firstOf(ends, ([south]) => south > line[3]!) - firstOf(ends, ([, north]) => north >= line[1]!); // prettier-ignore
  return lines.reduce((sum, line) => sum + reached(line), 0);
}

function split(lines: readonly number[][], ends: readonly Ends[]): Strip[] {
  const kept = ends.map((): number[][] => []);
  for (const line of lines) {
    let at = firstOf(ends, ([, north]) => north >= line[1]!);
    for (; at < ends.length && ends[at]![0] <= line[3]!; at++) kept[at]!.push(line);
  }
  return ends.map(([south, north], i) => {
    const own = kept[i]!;
    const west = own.reduce((least, line) => Math.min(least, line[0]!, line[2]!), Infinity);
    const east = own.reduce((most, line) => Math.max(most, line[0]!, line[2]!), -Infinity);
    return { south, west, north, east, lines: own.flat() };
  });
}

/** The first strip of which something holds, as it does of all that follow; their number where it holds of none. */
function firstOf(ends: readonly Ends[], holds: (ends: Ends) => boolean): number {
  let [low, high] = [0, ends.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (holds(ends[middle]!)) high = middle;
    else low = middle + 1;
  }
  return low;
}

/**
 * Whether a point lies in a strip of a region, or on its outline: eastwards of it an odd number of lines is crossed.
 * Straight lines of longitude and latitude, as GeoJSON has it. https://www.rfc-editor.org/rfc/rfc7946#section-3.1.1
 */
export function isInStrip(strip: Strip, { latitude, longitude }: Point): boolean {
  const { south, west, north, east, lines } = strip;
  return (
    latitude >= south && latitude <= north && longitude >= west && longitude <= east && isAmong(lines, longitude, latitude)
  ); // prettier-ignore
}

/**
 * Tests whether a point is inside the lines of a strip, or on one of them: the rule of `isInStrip` without the bounds
 * of the strip. MongoDB evaluates the same rule as an expression of its own.
 */
export function isAmong(lines: ArrayLike<number>, x: number, y: number): boolean {
  let isInside = false;
  for (let i = 0; i < lines.length; i += 4) {
    const [x1, y1, x2, y2] = [lines[i]!, lines[i + 1]!, lines[i + 2]!, lines[i + 3]!];
    if (y < y1 || y > y2) continue;
    // Above 0: the point is west of the line; 0: on it, or on what would prolong it.
    const side = (x2 - x1) * (y - y1) - (x - x1) * (y2 - y1);
    if (side === 0 && ((x1 <= x && x <= x2) || (x2 <= x && x <= x1))) return true;
    if (side > 0 && y < y2) isInside = !isInside;
  }
  return isInside;
}
