/** Degrees in the WGS84 datum: latitude from -90 to 90, longitude from -180 to 180. */
export interface Point {
  readonly latitude: number;
  readonly longitude: number;
}

/** A point as a vector of length 1 from the centre of the earth. */
export interface Vector {
  readonly x: number;
  readonly y: number;
  readonly z: number;
}

/** Distances are those on a sphere of this radius in metres, the mean radius of the earth (IUGG). */
export const EARTH_RADIUS = 6_371_008.8;

/** So far away, in metres, nothing is further. */
export const FURTHEST = Math.PI * EARTH_RADIUS;

const RADIANS = Math.PI / 180;

/** Whether latitude and longitude are ones that there are. */
export function isPoint({ latitude, longitude }: Point): boolean {
  return Math.abs(latitude) <= 90 && Math.abs(longitude) <= 180;
}

/**
 * Converts a point to its unit vector. Points at the same place have the same vector: a pole with each longitude, the
 * antimeridian from both sides.
 */
export function toVector({ latitude, longitude }: Point): Vector {
  if (Math.abs(latitude) === 90) return { x: 0, y: 0, z: Math.sign(latitude) };
  const [north, east] = [latitude * RADIANS, (longitude === -180 ? 180 : longitude) * RADIANS];
  return { x: Math.cos(north) * Math.cos(east), y: Math.cos(north) * Math.sin(east), z: Math.sin(north) };
}

/**
 * The square of the straight line between points at such a distance along the surface, in metres: four times the haversine.
 * It grows with the distance, and takes sums and products alone to compare, which come to the same in every store.
 */
export function squaredChord(distance: number): number {
  // Above all there are, however they are rounded.
  return distance >= FURTHEST ? 5 : 4 * Math.sin(distance / EARTH_RADIUS / 2) ** 2;
}

/** Whether two points are within that of each other. Stores write the same steps in the same order. */
export function isWithinChord(a: Vector, b: Vector, squared: number): boolean {
  const [x, y, z] = [a.x - b.x, a.y - b.y, a.z - b.z];
  return x * x + y * y + z * z <= squared;
}
