import type { PlaceEntry } from '../../../runtime/indexing/entry.js';
import { stripsOf, type Ring, type Strip } from '../../../runtime/indexing/places/regions.js';
import type { Condition, PlaceTest } from '../../../runtime/search/query/query.js';
import type { Random } from '../random.js';

/** Places for random queries: few, so that they meet, and where maps have edges. */
export interface Places {
  entries(): PlaceEntry[];
  condition(): Condition;
}

const CENTRES: readonly (readonly [latitude: number, longitude: number])[] = [
  [0, 0],
  [42.25, -83.5],
  [90, 17],
  [-90, 0],
  [89.5, 100],
  [10, 180],
  [10, -180],
  [-16.5, 179.75],
];

/** The strips of a square of two degrees around a point of the diagonal. */
export function squareAt(n: number): Strip[] {
  return stripsOf([
    [
      [n - 0.25, n - 0.25],
      [n + 0.25, n - 0.25],
      [n + 0.25, n + 0.25],
      [n - 0.25, n + 0.25],
      [n - 0.25, n - 0.25],
    ],
  ]);
}

export function createPlaces({ pick, below, chance, some, next }: Random): Places {
  const point = () => {
    const [latitude, longitude] = pick(CENTRES);
    // Eighths of a degree are exact, so that points come to lie on lines and corners.
    const [north, east] = [below(17) - 8, below(17) - 8].map((n) => (chance(0.3) ? 0 : n / 8)) as [number, number];
    const turned = longitude + east;
    return {
      latitude: Math.max(-90, Math.min(90, latitude + north)),
      longitude: turned > 180 ? turned - 360 : turned < -180 ? turned + 360 : turned,
    };
  };
  const ring = (x: number, y: number, size: number): Ring => {
    const corners = chance(0.05) ? 200 + below(200) : 3 + below(8);
    const all = Array.from({ length: corners }, (_, i): readonly [number, number] => {
      const [angle, reach] = [(2 * Math.PI * i) / corners, size * (0.3 + next())];
      const at = (n: number): number => Math.round(n * 8) / 8;
      return [at(x + reach * Math.cos(angle)), Math.max(-90, Math.min(90, at(y + reach * Math.sin(angle))))];
    });
    return [...all, all[0]!];
  };
  const region = (): Strip[] => {
    const { latitude, longitude } = point();
    const size = pick([0.2, 1, 3, 40]);
    return stripsOf([ring(longitude, latitude, size), ...some(2, () => ring(longitude, latitude, size / 3))]);
  };
  const test = (kind: 'near' | 'around'): PlaceTest =>
    kind === 'around'
      ? { is: 'around', ...point() }
      : { is: 'near', ...point(), distance: pick([0, 1, 14_000, 30_000, 100_000, 3e6, 1.9e7, 2.1e7]) };
  return {
    entries: () => [
      ...some(3, (): PlaceEntry => ({ kind: 'position', param: 'at', ...point() })),
      ...some(3, region).flatMap((strips) => strips.map((strip): PlaceEntry => ({ kind: 'region', param: 'area', ...strip }))), // prettier-ignore
    ],
    condition: () => {
      const kind = pick(['near', 'around'] as const);
      const param = kind === 'near' ? 'at' : 'area';
      if (chance(0.1)) return { param, present: kind === 'near' ? 'position' : 'region' };
      return { param, places: [test(kind), ...(chance(0.2) ? some(4, () => test(kind)) : [])] };
    },
  };
}
