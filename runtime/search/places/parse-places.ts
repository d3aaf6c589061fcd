import type { PlaceTest } from '../query/query.js';
import { ValueError, splitAt, unescape } from '../parse/parse-value.js';
import type { PlaceKind } from '../../indexing/parameter-kinds.js';
import { canonicalUnit } from '../../fhir/ucum/canonical.js';
import { isPoint, type Point } from '../../indexing/places/sphere.js';

/** Alternatives of one value: each is looked for in up to `MAX_CELLS` ranges of an index. */
export const MAX_PLACES = 20;

/** How far away is near where the search does not say so, in metres. */
const DEFAULT_DISTANCE = 10_000;

/** Names of miles, in metres: UCUM's mile of the US survey, which is not among our units, and the word for a mile. */
const MILES: Readonly<Record<string, number>> = { '[mi_us]': (5280 * 1200) / 3937, mi: 1609.344 };

/** Reads one alternative of a value, escapes still in it. */
type PlaceParser = (text: string) => readonly PlaceTest[];

/** How values are read. @throws ValueError saying what would be right */
export const PLACE_PARSERS: Readonly<Record<PlaceKind, PlaceParser>> = {
  position: (text) => [readNear(text)],
  region: readWithin,
};

/** `latitude|longitude[|distance[|units]]`. https://hl7.org/fhir/R5/location.html#positional */
function readNear(text: string): PlaceTest {
  const [latitude = '', longitude = '', distance = '', units = '', ...more] = splitAt(text, '|').map(unescape);
  if (longitude === '' || more.length > 0)
    throw new ValueError('is latitude|longitude|distance|units, as in 42.2565|-83.6948|11.2|km; distance and units may be left out'); // prettier-ignore
  const point = readPoint(latitude, longitude);
  // Units of no distance mean nothing, but are what they are.
  const unit = metresOf(units === '' ? 'km' : units);
  if (distance === '') return { is: 'near', ...point, distance: DEFAULT_DISTANCE };
  const number = numberOf(distance);
  if (number === undefined || number < 0) throw new ValueError('has a distance that is no number from 0 on');
  return { is: 'near', ...point, distance: number * unit };
}

/** `latitude|longitude`. A point on the antimeridian is one of both sides. */
function readWithin(text: string): readonly PlaceTest[] {
  const [latitude = '', longitude = '', ...more] = splitAt(text, '|').map(unescape);
  if (longitude === '' || more.length > 0) throw new ValueError('is latitude|longitude, as in 42.2565|-83.6948');
  const point = readPoint(latitude, longitude);
  const both = Math.abs(point.longitude) === 180 ? [180, -180] : [point.longitude];
  return both.map((each) => ({ is: 'around', ...point, longitude: each }));
}

function readPoint(first: string, second: string): Point {
  const [latitude, longitude] = [numberOf(first), numberOf(second)];
  if (latitude === undefined || longitude === undefined || !isPoint({ latitude, longitude }))
    throw new ValueError('begins with a latitude from -90 to 90 and a longitude from -180 to 180, in degrees, | between them'); // prettier-ignore
  return { latitude, longitude };
}

function metresOf(units: string): number {
  const miles = Object.hasOwn(MILES, units) ? MILES[units] : undefined;
  if (miles !== undefined) return miles;
  const unit = canonicalUnit(units);
  if (unit?.unit !== 'm') throw new ValueError('has units that are no length; km, m, [mi_us], mi and other UCUM codes are'); // prettier-ignore
  return unit.factor;
}

function numberOf(text: string): number | undefined {
  if (text.length > 64 || !/^[+-]?\d+(\.\d+)?([eE][+-]?\d{1,3})?$/.test(text)) return undefined;
  const number = Number(text);
  // Zero has no sign.
  return Number.isFinite(number) ? number + 0 : undefined;
}
