import type { SearchRow } from '../../contract/search.js';

/** What the values of such a parameter are: points, or regions that points lie in. */
export type PlaceKind = 'position' | 'region';

/** A parameter that asks for places. */
interface PlaceParameter {
  readonly kind: PlaceKind;
  /** What its values are, for people. */
  readonly form: string;
}

/**
 * Parameters of type special, whose definitions do not say how they compare: their texts do, which are told apart by URL.
 * https://hl7.org/fhir/R5/location.html#positional
 */
const PLACES: Readonly<Record<string, PlaceParameter>> = {
  'http://hl7.org/fhir/SearchParameter/Location-near': {
    kind: 'position',
    form: '[latitude]|[longitude]|[distance]|[units]: kilometres without units, 10 of them without a distance',
  },
  'http://hl7.org/fhir/SearchParameter/Location-contains': {
    kind: 'region',
    form: '[latitude]|[longitude]: of a point within the boundary',
  },
};

/** What is known of a parameter that asks for places; undefined: it does not. */
export function placesOf({ type, url }: { readonly type: string; readonly url?: string }): PlaceParameter | undefined {
  return type === 'special' && url !== undefined && Object.hasOwn(PLACES, url) ? PLACES[url] : undefined;
}

/** The same of what a row has entries of: its type, or the kind of places. */
export function valuesOf(row: SearchRow): Exclude<SearchRow['type'], 'special'> | PlaceKind | undefined {
  return row.type === 'special' ? placesOf(row)?.kind : row.type;
}
