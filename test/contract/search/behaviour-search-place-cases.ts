import type { IndexEntry } from '../../../runtime/indexing/entry.js';
import { stripsOf, type Ring } from '../../../runtime/indexing/places/regions.js';
import type { Condition } from '../../../runtime/search/query/query.js';
import type { SearchCase } from './behaviour-search-cases.js';
import { P } from './behaviour-search-helpers.js';

const at = (latitude: number, longitude: number): IndexEntry => ({ kind: 'position', param: P, latitude, longitude });
const near = (latitude: number, longitude: number, distance: number): Condition => ({
  param: P,
  places: [{ is: 'near', latitude, longitude, distance }],
});
const around = (...points: readonly (readonly [latitude: number, longitude: number])[]): Condition => ({
  param: P,
  places: points.map(([latitude, longitude]) => ({ is: 'around', latitude, longitude })),
});
const region = (...rings: readonly Ring[]): IndexEntry[] => stripsOf(rings).map((strip) => ({ kind: 'region', param: P, ...strip })); // prettier-ignore
const box = (west: number, south: number, east: number, north: number): Ring => [[west, south], [east, south], [east, north], [west, north], [west, south]]; // prettier-ignore
const circle = (x: number, y: number, size: number, corners: number): Ring =>
  Array.from({ length: corners + 1 }, (_, i) => {
    const angle = (2 * Math.PI * (i % corners)) / corners;
    return [x + size * Math.cos(angle), y + size * Math.sin(angle)];
  });

/** https://hl7.org/fhir/R5/location.html#positional. A degree of a great circle is 111.195 km. */
export const PLACE_CASES: readonly SearchCase[] = [
  {
    name: 'places: near a point',
    resources: {
      a: [at(0, 0)],
      b: [at(0, 1)],
      c: [at(1, 0), at(50, 50)],
      d: [at(90, 12)],
      e: [at(89, -168)],
      f: [at(10, 179.5)],
      g: [at(10, -179.5)],
      h: [at(10, 180)],
      i: [at(-10, -180)],
      j: [],
    },
    findings: [
      ['at the very point', near(0, 0, 0), 'a'],
      ['just not as far', near(0, 0, 111_194), 'a'],
      ['just as far', near(0, 0, 111_196), 'abc'],
      ['one of several positions', near(50, 50, 1), 'c'],
      ['a pole has every longitude', near(90, -77, 0), 'd'],
      ['over a pole', near(89, 12, 223_000), 'de'],
      ['around a pole', near(88, 12, 223_000), 'd'],
      ['over the antimeridian', near(10, 179.5, 110_000), 'fgh'],
      ['the same from the other side', near(10, -179.5, 110_000), 'fgh'],
      ['on the antimeridian, from both sides', near(10, -180, 0), 'h'],
      ['of the southern half too', near(-10, 180, 0), 'i'],
      ['half around the earth', near(0, 0, 20_015_115), 'abcdefghi'],
      ['and further', near(33, 44, 1e9), 'abcdefghi'],
      ['what has no position', { not: near(0, 0, 1e9) }, 'j'],
      ['not near', { not: near(0, 0, 111_196) }, 'defghij'],
      ['one of two', { param: P, places: [{ is: 'near', latitude: 0, longitude: 1, distance: 5 }, { is: 'near', latitude: 90, longitude: 0, distance: 5 }] }, 'bd'], // prettier-ignore
      ['both', { all: [near(0, 0, 111_196), near(0, 1, 120_000)] }, 'ab'],
      ['no region is near', around([0, 0]), ''],
      ['that is there', { param: P, present: 'position' }, 'abcdefghi'],
      ['of a parameter that was never there', { param: 'never', places: [{ is: 'near', latitude: 0, longitude: 0, distance: 1 }] }, ''], // prettier-ignore
      ['no test', { param: P, places: [] }, ''],
    ],
  },
  {
    name: 'places: regions around a point',
    resources: {
      a: region(box(-1, -1, 1, 1)),
      b: region(box(-10, -10, 10, 10), box(-2, -2, 2, 2)),
      c: region([[0, 0], [4, 2], [0, 4], [0, 0]]), // prettier-ignore
      d: region(box(-180, -90, 180, 90)),
      e: [...region(box(170, 0, 180, 10)), ...region(box(-180, 0, -170, 10))],
      f: region(circle(40, 40, 5, 1000)),
      g: region(circle(40, 40, 5, 1000), circle(40, 40, 4, 3000)),
      h: region([[0, 60], [10, 60], [5, 60], [0, 60]]), // prettier-ignore
    },
    findings: [
      ['within, in no hole', around([0.5, -0.5]), 'ad'],
      ['at an edge', around([0.5, 1]), 'acd'],
      ['at a corner', around([1, -1]), 'ad'],
      ['at the edge of a hole', around([2, -2]), 'bd'],
      ['at a slanted edge', around([1, 2]), 'bcd'],
      ['beside it', around([0.999, 2.001]), 'bd'],
      ['east of a corner', around([2, 4]), 'bcd'],
      ['beyond it', around([2, 4.001]), 'bd'],
      ['a pole', around([-90, 5]), 'd'],
      ['on the antimeridian', around([5, 180]), 'de'],
      ['west of it', around([5, 179]), 'de'],
      ['east of it', around([5, -179]), 'de'],
      ['many corners', around([40, 44.5]), 'dfg'],
      ['a hole of many corners', around([43.9, 40]), 'df'],
      ['outside', around([43.6, 43.6]), 'd'],
      ['a line is around what lies on it', around([60, 7]), 'dh'],
      ['one of two', around([0.5, -0.5], [40, 44.5]), 'adfg'],
      ['not around', { not: around([0.5, -0.5], [40, 44.5]) }, 'bceh'],
      ['both', { all: [around([0.5, 0.5]), around([3, 1])] }, 'cd'],
      ['no position is around', near(0, 0, 1e9), ''],
      ['that is there', { param: P, present: 'region' }, 'abcdefgh'],
    ],
  },
];
