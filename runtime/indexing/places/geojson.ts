import { objectOf } from '../values/json.js';
import type { Ring } from './regions.js';

/** Corners of all that a boundary has; of more nothing is read. */
export const MAX_CORNERS = 50_000;

/** Collections within each other. */
const MAX_DEPTH = 10;

/** The rings of a polygon: its outline, then its holes. */
export type Polygon = readonly Ring[];

/**
 * The polygons of a GeoJSON text, those of features and collections too; lines and points have none.
 * https://www.rfc-editor.org/rfc/rfc7946
 *
 * @returns undefined: it is none, some of it is not as it should be, or it is too large
 */
export function readPolygons(text: string): readonly Polygon[] | undefined {
  try {
    const polygons = polygonsOf(JSON.parse(text), 0);
    const corners = polygons.flat().reduce((sum, ring) => sum + ring.length, 0);
    return corners <= MAX_CORNERS ? polygons : undefined;
  } catch {
    return undefined;
  }
}

class NotGeoJson extends Error {}

function polygonsOf(value: unknown, depth: number): Polygon[] {
  const geometry = objectOf(value);
  if (geometry === undefined || depth > MAX_DEPTH) throw new NotGeoJson();
  const within = (list: unknown): Polygon[] => listOf(list).flatMap((each) => polygonsOf(each, depth + 1));
  switch (geometry['type']) {
    case 'FeatureCollection':
      return within(geometry['features']);
    case 'GeometryCollection':
      return within(geometry['geometries']);
    case 'Feature':
      return geometry['geometry'] === null ? [] : within([geometry['geometry']]);
    case 'Polygon':
      return [listOf(geometry['coordinates']).map(ringOf)];
    case 'MultiPolygon':
      return listOf(geometry['coordinates']).map((polygon) => listOf(polygon).map(ringOf));
    case 'Point':
    case 'MultiPoint':
    case 'LineString':
    case 'MultiLineString':
      return [];
    default:
      throw new NotGeoJson();
  }
}

/** Four positions at least, the last the first again. */
function ringOf(value: unknown): Ring {
  const ring = listOf(value).map((position): readonly [number, number] => {
    const [longitude, latitude] = listOf(position);
    if (typeof longitude !== 'number' || typeof latitude !== 'number') throw new NotGeoJson();
    // What goes on beyond the antimeridian may be written so.
    if (Math.abs(longitude) > 540 || Math.abs(latitude) > 90) throw new NotGeoJson();
    return [longitude, latitude];
  });
  const [first, last] = [ring[0], ring.at(-1)];
  if (ring.length < 4 || first?.[0] !== last?.[0] || first?.[1] !== last?.[1]) throw new NotGeoJson();
  return ring;
}

function listOf(value: unknown): readonly unknown[] {
  if (!Array.isArray(value)) throw new NotGeoJson();
  return value;
}
