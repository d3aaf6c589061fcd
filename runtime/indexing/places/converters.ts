import type { IndexEntry } from '../entry.js';
import type { Converters } from '../values/converter.js';
import { numberOf, objectOf, textOf } from '../values/json.js';
import { readPolygons, type Polygon } from './geojson.js';
import { stripsOf, type Strip } from './regions.js';
import { isPoint } from './sphere.js';

/** Entries of where something is: elements that have a latitude and a longitude. */
export const positionConverters: Converters = {
  BackboneElement: ({ param }) => {
    return (value, { out }) => {
      const position = objectOf(value);
      const latitude = numberOf(position?.['latitude']);
      const longitude = numberOf(position?.['longitude']);
      if (latitude === undefined || longitude === undefined || !isPoint({ latitude, longitude })) return;
      out.push({ kind: 'position', param, latitude, longitude });
    };
  },
};

/**
 * Entries of regions: GeoJSON that is in an Attachment itself.
 * https://hl7.org/fhir/extensions/StructureDefinition-location-boundary-geojson.html
 */
export const regionConverters: Converters = {
  Attachment: ({ param }) => {
    return (value, { out }) => {
      const data = textOf(objectOf(value)?.['data']);
      if (data === undefined) return;
      const polygons = readPolygons(Buffer.from(data, 'base64').toString()) ?? [];
      for (const polygon of polygons) pushPolygon(out, param, polygon);
    };
  },
};

/** How far a copy of a polygon that crosses the antimeridian lies from it, in degrees. */
const TURNS = [0, 360, -360];

/** A polygon by its strips; what of it lies beyond the antimeridian is on the other side of the map. */
function pushPolygon(out: IndexEntry[], param: string, polygon: Polygon): void {
  if (polygon.length === 0) return;
  const isBeyond = polygon.some((ring) => ring.some(([x]) => Math.abs(x) > 180));
  for (const turn of isBeyond ? TURNS : [0]) {
    const rings = turn === 0 ? polygon : polygon.map((ring) => ring.map(([x, y]) => [x + turn, y] as const));
    for (const strip of stripsOf(rings)) if (isOnMap(strip)) out.push({ kind: 'region', param, ...strip });
  }
}

function isOnMap({ west, east }: Pick<Strip, 'west' | 'east'>): boolean {
  return east >= -180 && west <= 180;
}
