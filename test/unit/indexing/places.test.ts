import { describe, expect, it } from 'vitest';

import { OwnBases } from '../../../runtime/path/own-bases.js';
import { FhirError } from '../../../runtime/fhir/errors.js';
import { tables } from '../../../generated/tables.js';
import { createValueExtractor } from '../../../runtime/indexing/extract.js';
import { cellOf, cellOfBox, cellsAround, cellsOfBoxesAt, MAX_CELLS } from '../../../runtime/indexing/places/cells.js';
import { MAX_CORNERS, readPolygons } from '../../../runtime/indexing/places/geojson.js';
import { isInStrip, stripsOf, type Ring } from '../../../runtime/indexing/places/regions.js';
import { isWithinChord, squaredChord, toVector } from '../../../runtime/indexing/places/sphere.js';
import { searchDefinitions } from '../../../runtime/indexing/definitions.js';
import { parseCriterion } from '../../../runtime/search/parse/parse-criterion.js';
import { printCondition } from '../../../runtime/search/query/print.js';
import { utc } from '../../../runtime/indexing/values/zone.js';
import { processorTime } from '../../processor-time.js';
import { createRandom, seedOfRun } from '../../contract/random.js';
import { BOUNDARY, boundaryOf } from '../store/mongo/boundary.js';

const definitions = searchDefinitions(tables);
const parse = (name: string, value: string, type = 'Location') =>
  parseCriterion(name, value, {
    rows: definitions.rowsOf(type),
    isResourceType: definitions.isResourceType,
    zone: utc,
    own: new OwnBases(),
    now: 0,
    maxAlternatives: 1000,
    links: { type, definitions },
  });
const near = (value: string) => parse('near', value) as unknown as { places: { distance: number }[] };

describe('near: latitude|longitude|distance|units', () => {
  it('as the specification writes it', () => {
    expect(parse('near', '42.256500|-83.694810|11.20|km')).toEqual({
      param: 'near',
      places: [{ is: 'near', latitude: 42.2565, longitude: -83.69481, distance: 11_200 }],
    });
  });

  it.each([
    ['0|0|1', 1000],
    ['0|0|1|', 1000],
    ['0|0|1|m', 1],
    ['0|0|1e2|cm', 1],
    ['0|0|1|[mi_us]', 1609.347],
    ['0|0|1|mi', 1609.344],
    ['0|0|1|[mi_i]', 1609.344],
    ['0|0|0|km', 0],
    ['0|0', 10_000],
    ['0|0||km', 10_000],
    ['-90|-180|99999999|km', 99_999_999_000],
  ])('%s: so many metres', (value, metres) => {
    expect(near(value).places[0]?.distance).toBeCloseTo(metres, 3);
  });

  it('several are alternatives, up to 20', () => {
    expect(near('0|0|1,1|1|2').places).toHaveLength(2);
    expect(near(Array(20).fill('0|0|1').join()).places).toHaveLength(20);
    expect(() => near(Array(21).fill('0|0|1').join())).toThrow('has 21 values, and may have 20');
  });

  it.each([
    ['', 'has no value'],
    ['42', 'is latitude|longitude|distance|units'],
    ['42,5', 'is latitude|longitude|distance|units'],
    ['a|b', 'a latitude from -90 to 90'],
    ['90.1|0', 'a latitude from -90 to 90'],
    ['0|180.5', 'a longitude from -180 to 180'],
    ['NaN|0', 'a latitude'],
    ['0x10|0', 'a latitude'],
    ['1e999|0', 'a latitude'],
    ['ge42|0', 'a latitude'],
    ['0|0|-1', 'no number from 0 on'],
    ['0|0|x', 'no number from 0 on'],
    ['0|0|1|kg', 'units that are no length'],
    ['0|0|1|miles', 'units that are no length'],
    ['0|0||lightyears', 'units that are no length'],
    ['0|0|1|km|x', 'is latitude|longitude|distance|units'],
    [`${'9'.repeat(5000)}|0`, 'a latitude'],
  ])('%s is refused, and what would be right told', (value, text) => {
    expect(() => parse('near', value)).toThrow(FhirError);
    expect(() => parse('near', value)).toThrow(text);
  });

  it('is shown as it is understood', () => {
    const shown = (name: string, value: string) => printCondition(parse(name, value));
    expect(shown('near', '1|2|5')).toBe('near within 5000 m of latitude 1, longitude 2');
    expect(shown('contains', '1|2,3|4')).toBe(
      'contains (around latitude 1, longitude 2 or around latitude 3, longitude 4)',
    );
  });

  it('takes :missing alone, and is no order', () => {
    expect(parse('near:missing', 'false')).toEqual({ param: 'near', present: 'position' });
    expect(() => parse('near:exact', '0|0')).toThrow('takes :missing, not :exact');
    expect(() => parse('near:not', '0|0')).toThrow('takes :missing, not :not');
  });

  it('stands at the end of chains, and in no filter but to ask whether it is there', () => {
    expect(parse('location.near', '0|0|1', 'Encounter')).toMatchObject({ param: 'location', chain: [{ where: { param: 'near' } }] }); // prettier-ignore
    expect(parse('_filter', 'near pr true')).toEqual({ param: 'near', present: 'position' });
    expect(() => parse('_filter', 'near eq 0|0|1')).toThrow('is of type special and does not take eq, but pr');
  });
});

describe('contains: latitude|longitude', () => {
  it('is a point, on the antimeridian one of both sides', () => {
    expect(parse('contains', '42.25|-83.5')).toEqual({ param: 'contains', places: [{ is: 'around', latitude: 42.25, longitude: -83.5 }] }); // prettier-ignore
    expect(parse('contains', '1|-180')).toMatchObject({ places: [{ longitude: 180 }, { longitude: -180 }] });
  });

  it.each(['1', '1|2|3', '91|0', '0|181', 'x|y'])('%s is refused', (value) => {
    expect(() => parse('contains', value)).toThrow(/is latitude\|longitude, as in|a latitude from -90 to 90/);
  });
});

/** By the formula of the haversine. */
function haversine([a, b]: readonly [number, number], [c, d]: readonly [number, number]): number {
  const [p, q] = [(a * Math.PI) / 180, (c * Math.PI) / 180];
  const h = Math.sin((q - p) / 2) ** 2 + Math.cos(p) * Math.cos(q) * Math.sin(((d - b) * Math.PI) / 360) ** 2;
  return 2 * 6_371_008.8 * Math.asin(Math.sqrt(Math.min(1, h)));
}

describe('distances and cells', () => {
  it('what is within a distance is that by the haversine, and lies in one of few cells', () => {
    const { next, pick } = createRandom(seedOfRun());
    for (let n = 0; n < 5000; n++) {
      const latitude = pick([next() * 180 - 90, 90, -90, 89.999, next() / 100]);
      const longitude = pick([next() * 360 - 180, 180, -180, 179.9999, 0]);
      const distance = pick([0, 10, 1000, 1e5, 1e6, 1.9e7, 2.5e7]) * next();
      const reach = (distance / 111_195) * 1.5;
      const other = {
        latitude: Math.max(-90, Math.min(90, latitude + (next() * 2 - 1) * reach)),
        longitude: ((((longitude + (next() * 2 - 1) * reach * pick([1, 1, 50])) % 360) + 540) % 360) - 180,
      };
      const centre = { latitude, longitude };
      const metres = haversine([latitude, longitude], [other.latitude, other.longitude]);
      const isNear = isWithinChord(toVector(other), toVector(centre), squaredChord(distance));
      if (Math.abs(metres - distance) > 0.5)
        expect(isNear, JSON.stringify([centre, other, distance])).toBe(metres < distance);
      const cells = cellsAround(centre, distance);
      expect(cells.length).toBeLessThanOrEqual(MAX_CELLS);
      if (isNear) {
        const cell = cellOf(other);
        expect(cells.some((each) => cell.startsWith(each)), JSON.stringify([centre, other, distance])).toBe(true); // prettier-ignore
      }
    }
  });

  it('cells around a point are little more than what is near it', () => {
    const { next } = createRandom(7);
    for (let n = 0; n < 200; n++) {
      const centre = { latitude: next() * 120 - 60, longitude: next() * 360 - 180 };
      const area = cellsAround(centre, 50_000).reduce((sum, cell) => sum + (360 * 180) / 4 ** cell.length, 0);
      const own = (Math.PI * (50_000 / 111_195) ** 2) / Math.cos((centre.latitude * Math.PI) / 180);
      expect(area / own).toBeLessThan(6);
    }
  });

  it('a box around a point is kept under one of the cells that it is looked for in', () => {
    const { next, pick } = createRandom(seedOfRun());
    for (let n = 0; n < 5000; n++) {
      const point = { latitude: next() * 180 - 90, longitude: next() * 360 - 180 };
      const size = pick([0, 1e-9, 1e-4, 0.1, 1, 45, 180]);
      const box = {
        south: Math.max(-90, point.latitude - next() * size),
        north: Math.min(90, point.latitude + next() * size),
        west: point.longitude - next() * 2 * size,
        east: point.longitude + next() * 2 * size,
      };
      expect(cellsOfBoxesAt(point)).toContain(cellOfBox(box));
    }
    expect(cellsOfBoxesAt({ latitude: 1, longitude: 2 }).length).toBeLessThan(82);
  });
});

describe('regions', () => {
  it('a point lies in a strip where it lies in the whole', () => {
    const { next, below } = createRandom(seedOfRun());
    for (let n = 0; n < 60; n++) {
      const corners = 3 + below(n % 6 === 0 ? 2000 : 40);
      const ring: [number, number][] = Array.from({ length: corners }, () => [next() * 10, next() * 10]);
      ring.push(ring[0]!);
      const strips = stripsOf([ring]);
      expect(strips.reduce((sum, { lines }) => sum + lines.length / 4, 0)).toBeLessThanOrEqual(2 * corners);
      for (let m = 0; m < 50; m++) {
        const [x, y] = [next() * 12 - 1, next() * 12 - 1];
        const is = strips.some((strip) => isInStrip(strip, { longitude: x, latitude: y }));
        expect(is, JSON.stringify([n, x, y])).toBe(naive(ring, x, y));
      }
      const [x, y] = ring[0]!;
      expect(strips.some((strip) => isInStrip(strip, { longitude: x, latitude: y }))).toBe(true);
    }
  });

  it('of many corners have strips of few lines', () => {
    const ring: Ring = Array.from({ length: 20_001 }, (_, i) => {
      const angle = ((i % 20_000) * Math.PI) / 10_000;
      return [Math.cos(angle), Math.sin(angle)];
    });
    expect(Math.max(...stripsOf([ring]).map(({ lines }) => lines.length / 4))).toBeLessThan(200);
  });

  it('of lines from the south to the north take no more room than these, and no longer', () => {
    const zigzag: [number, number][] = Array.from({ length: 50_000 }, (_, i) => [i / 1000, (i % 2) * 10 + i / 1e6]);
    const took = processorTime();
    const strips = stripsOf([[...zigzag, zigzag[0]!]]);
    expect(took()).toBeLessThan(2000);
    expect(strips.reduce((sum, { lines }) => sum + lines.length / 4, 0)).toBeLessThanOrEqual(100_000);
  });
});

/** How often the way from the point to the east crosses the ring. */
function naive(ring: Ring, x: number, y: number): boolean {
  const crossed = ring.slice(1).filter(([bx, by], i) => {
    const [ax, ay] = ring[i]!;
    return ay > y !== by > y && x < ((bx - ax) * (y - ay)) / (by - ay) + ax;
  });
  return crossed.length % 2 === 1;
}

const SQUARE = [[0, 0], [1, 0], [1, 1], [0, 1], [0, 0]]; // prettier-ignore
const polygon = { type: 'Polygon', coordinates: [SQUARE] };

describe('GeoJSON', () => {
  it.each([
    ['a polygon', polygon, 1],
    ['several', { type: 'MultiPolygon', coordinates: [[SQUARE], [SQUARE, SQUARE]] }, 2],
    ['a feature', { type: 'Feature', geometry: polygon, properties: null }, 1],
    ['a feature of nothing', { type: 'Feature', geometry: null }, 0],
    ['features', { type: 'FeatureCollection', features: [{ type: 'Feature', geometry: polygon }, { type: 'Feature', geometry: { type: 'Point', coordinates: [1, 2] } }] }, 1], // prettier-ignore
    ['geometries', { type: 'GeometryCollection', geometries: [polygon, polygon, { type: 'LineString', coordinates: [] }] }, 2], // prettier-ignore
    ['with heights', { type: 'Polygon', coordinates: [SQUARE.map((position) => [...position, 7])] }, 1],
  ])('%s', (_what, value, count) => {
    expect(readPolygons(JSON.stringify(value))).toHaveLength(count);
  });

  it.each([
    ['no JSON', '{'],
    ['null', 'null'],
    ['a list', '[]'],
    ['no type', '{}'],
    ['another type', '{"type":"Topology"}'],
    ['a ring that is open', JSON.stringify({ type: 'Polygon', coordinates: [SQUARE.slice(1)] })],
    ['a ring of two corners', JSON.stringify({ type: 'Polygon', coordinates: [[[0, 0], [1, 1], [0, 0]]] })], // prettier-ignore
    ['texts for numbers', JSON.stringify(polygon).replaceAll('0', '"0"')],
    ['a latitude that there is not', JSON.stringify({ type: 'Polygon', coordinates: [SQUARE.map(([x, y]) => [x, y! + 90])] })], // prettier-ignore
    ['a longitude of more than a turn', JSON.stringify({ type: 'Polygon', coordinates: [SQUARE.map(([x, y]) => [x! + 540, y])] })], // prettier-ignore
    ['no positions', '{"type":"Polygon","coordinates":[[1,2,3,1]]}'],
    ['too many corners', JSON.stringify({ type: 'Polygon', coordinates: [Array(MAX_CORNERS + 1).fill([1, 1])] })],
    ['one bad among good ones', JSON.stringify({ type: 'GeometryCollection', geometries: [polygon, {}] })],
    ['collections of collections', '{"type":"GeometryCollection","geometries":['.repeat(20) + ']}'.repeat(20)],
    ['nested beyond measure', '['.repeat(200_000)],
  ])('%s: nothing is read', (_what, text) => {
    expect(readPolygons(text)).toBeUndefined();
  });
});

describe('entries of places', () => {
  const extract = createValueExtractor(tables);
  const entries = (more: object) => extract({ resourceType: 'Location', id: 'x', ...more }).filter(({ param }) => param !== '_id'); // prettier-ignore

  it('a position', () => {
    expect(entries({ position: { latitude: 42.25, longitude: -83.5, altitude: 0 } })).toEqual([
      { kind: 'position', param: 'near', latitude: 42.25, longitude: -83.5 },
    ]);
    expect(entries({ position: { latitude: 91, longitude: 0 } })).toEqual([]);
    expect(entries({ position: { latitude: 9 } })).toEqual([]);
  });

  it('a boundary', () => {
    const read = entries({ extension: [boundaryOf(polygon)] });
    expect(read).toMatchObject([{ kind: 'region', param: 'contains', south: 0, west: 0, north: 1, east: 1 }]);
    expect(entries({ extension: [boundaryOf({ type: 'Polygon', coordinates: [] })] })).toEqual([]);
    expect(entries({ extension: [{ url: BOUNDARY, valueAttachment: { url: 'http://x/y.json' } }] })).toEqual([]);
    expect(entries({ extension: [{ url: BOUNDARY, valueAttachment: { data: '????' } }] })).toEqual([]);
    expect(entries({ extension: [{ url: BOUNDARY, valueString: JSON.stringify(polygon) }] })).toEqual([]);
    expect(entries({ extension: [{ ...boundaryOf(polygon), url: 'urn:other' }] })).toEqual([]);
  });

  it('a boundary beyond the antimeridian is on both sides of it', () => {
    const beyond = { type: 'Polygon', coordinates: [SQUARE.map(([x, y]) => [x! * 20 + 170, y])] };
    const boxes = entries({ extension: [boundaryOf(beyond)] }).map((entry) => entry.kind === 'region' && [entry.west, entry.east]); // prettier-ignore
    expect(boxes).toEqual([[170, 190], [-190, -170]]); // prettier-ignore
  });
});
