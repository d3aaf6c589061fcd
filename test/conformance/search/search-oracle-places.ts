import type { Random } from '../../contract/random.js';
import { boundaryOf } from '../../unit/store/mongo/boundary.js';

/** Where something is, and where its boundary goes, read off the JSON plainly. */
export type PlaceItem =
  | { readonly is: 'position'; readonly latitude: number; readonly longitude: number }
  | { readonly is: 'region'; readonly polygons: readonly Polygon[] };

/** The outline and the holes, positions as they stand there: longitude first. */
type Polygon = readonly (readonly (readonly number[])[])[];

/* eslint-disable @typescript-eslint/no-explicit-any -- JSON of any type is taken apart here, as it comes. */

/** What a special parameter finds a value by. */
export function placesIn(value: any): PlaceItem[] {
  if (typeof value.latitude === 'number' && typeof value.longitude === 'number') {
    const { latitude, longitude } = value;
    return Math.abs(latitude) > 90 || Math.abs(longitude) > 180 ? [] : [{ is: 'position', latitude, longitude }];
  }
  if (typeof value.data !== 'string') return [];
  try {
    const polygons = polygonsIn(JSON.parse(Buffer.from(value.data, 'base64').toString()));
    return polygons.length === 0 ? [] : [{ is: 'region', polygons }];
  } catch {
    return [];
  }
}

/** Of GeoJSON that is as it should be. */
function polygonsIn(json: any): Polygon[] {
  if (json.type === 'Polygon') return [json.coordinates];
  if (json.type === 'MultiPolygon') return json.coordinates;
  if (json.type === 'Feature') return polygonsIn(json.geometry);
  return (json.features ?? json.geometries ?? []).flatMap(polygonsIn);
}

/* eslint-enable @typescript-eslint/no-explicit-any */

const METRES: Readonly<Record<string, number>> = { '': 1000, km: 1000, m: 1, '[mi_us]': 1609.3472, mi: 1609.344 };

/** Whether an item is near a point, or is around it: `latitude|longitude|distance|units`. */
export function isPlace(item: PlaceItem, text: string): boolean {
  const [first, second, distance = '', units = ''] = text.split('|');
  const [latitude, longitude] = [Number(first), Number(second)];
  if (item.is === 'position') {
    const metres = distance === '' ? 10_000 : Number(distance) * METRES[units]!;
    return haversine(latitude, longitude, item.latitude, item.longitude) <= metres;
  }
  // Polygons may go on beyond the antimeridian.
  return [0, 360, -360].some((turn) => item.polygons.some((rings) => isAround(rings, longitude + turn, latitude)));
}

/** In metres, on a sphere. */
function haversine(a: number, b: number, c: number, d: number): number {
  const radians = (degrees: number): number => (degrees * Math.PI) / 180;
  const h = Math.sin(radians(c - a) / 2) ** 2 + Math.cos(radians(a)) * Math.cos(radians(c)) * Math.sin(radians(d - b) / 2) ** 2; // prettier-ignore
  return 2 * 6_371_008.8 * Math.asin(Math.min(1, Math.sqrt(h)));
}

/** Within the outline and in no hole, or on a line of either. */
function isAround([outline = [], ...holes]: Polygon, x: number, y: number): boolean {
  const edges = [outline, ...holes].flatMap((ring) => ring.slice(1).map((to, i) => [ring[i]!, to] as const));
  const isOn = edges.some(([[ax = 0, ay = 0], [bx = 0, by = 0]]) => {
    const isBetween = Math.min(ax, bx) <= x && x <= Math.max(ax, bx) && Math.min(ay, by) <= y && y <= Math.max(ay, by);
    return isBetween && (bx - ax) * (y - ay) === (by - ay) * (x - ax);
  });
  return isOn || (turns(outline, x, y) && !holes.some((ring) => turns(ring, x, y)));
}

/** Whether a ring goes around a point: the angles under which its lines are seen make up whole turns. */
function turns(ring: Polygon[number], x: number, y: number): boolean {
  const angles = ring.map(([a = 0, b = 0]) => Math.atan2(b - y, a - x));
  const sum = angles.slice(1).reduce((total, angle, i) => {
    const step = angle - angles[i]!;
    return total + (step > Math.PI ? step - 2 * Math.PI : step < -Math.PI ? step + 2 * Math.PI : step);
  }, 0);
  return Math.round(sum / (2 * Math.PI)) % 2 !== 0;
}

/** A value that finds an item. */
export function placeText(item: PlaceItem): string {
  if (item.is === 'position') return `${item.latitude}|${item.longitude}|0|km`;
  const [longitude = 0, latitude = 0] = item.polygons[0]![0]![0]!;
  return `${latitude}|${turned(longitude)}`;
}

/** A random value about an item, or near it. */
export function randomPlaceText({ pick, next, chance }: Random, item: PlaceItem): string {
  const jitter = (): number => pick([0, 0.001, 0.1, 1, 20]) * (next() * 2 - 1);
  const [longitude = 0, latitude = 0] = item.is === 'position' ? [item.longitude, item.latitude] : pick(pick(pick(item.polygons))); // prettier-ignore
  const north = Math.max(-90, Math.min(90, latitude + jitter()));
  const point = `${decimal(north)}|${decimal(turned(longitude + jitter()))}`;
  if (item.is === 'region') return point;
  const distance = decimal(pick([0, 0.1, 1, 15, 100, 3000, 21_000]) * (0.5 + next()));
  return chance(0.1) ? point : `${point}|${distance}${pick(['', '|', '|km', '|m', '|[mi_us]', '|mi'])}`;
}

function turned(longitude: number): number {
  return longitude > 180 ? longitude - 360 : longitude < -180 ? longitude + 360 : longitude;
}

const decimal = (value: number): string => value.toFixed(8);

const SQUARE = [[-83.75, 42.25], [-83.5, 42.25], [-83.5, 42.5], [-83.75, 42.5], [-83.75, 42.25]]; // prettier-ignore
const HOLE = [[-83.7, 42.3], [-83.6, 42.3], [-83.65, 42.45], [-83.7, 42.3]]; // prettier-ignore
const NORTH = [[-83.9, 42.4], [-83.6, 42.9], [-83.3, 42.4], [-83.9, 42.4]]; // prettier-ignore
const BEYOND = [[177, -20], [183, -20], [183, -15], [177, -15], [177, -20]]; // prettier-ignore
const LARGE = Array.from({ length: 301 }, (_, i) => {
  const angle = ((i % 300) * Math.PI) / 150;
  return [-84 + (2 + (i % 2)) * Math.cos(angle), 43 + (2 + (i % 2)) * Math.sin(angle)];
});

const SHAPES = [
  { type: 'Polygon', coordinates: [SQUARE, HOLE] },
  { type: 'MultiPolygon', coordinates: [[SQUARE], [NORTH]] },
  { type: 'Feature', properties: null, geometry: { type: 'Polygon', coordinates: [BEYOND] } },
  { type: 'FeatureCollection', features: [{ type: 'Feature', properties: {}, geometry: { type: 'Polygon', coordinates: [LARGE] } }, { type: 'Feature', properties: {}, geometry: { type: 'Polygon', coordinates: [NORTH] } }] }, // prettier-ignore
];

/** Locations with boundaries, of which there are no official examples. */
export const BOUNDED: readonly Record<string, unknown>[] = SHAPES.map((shape, n) => ({
  resourceType: 'Location',
  id: `bounded-${n}`,
  extension: [boundaryOf(shape)],
  position: { latitude: 42 + n / 4, longitude: n === 2 ? -180 : -83.5 - n / 4 },
}));
