import type { SearchRow } from '../contract/search.js';
import { hasDisplays } from './text/displays.js';
import { CONTENT, NARRATIVE } from './text/parameters.js';

/** The kinds of search parameters beyond their search type: those of places, words and membership, and of local references. */

/** What the values of a parameter of places are: points, or regions that contain points. */
export type PlaceKind = 'position' | 'region';

interface PlaceParameter {
  readonly kind: PlaceKind;
  /** The form of its values, for messages and documentation. */
  readonly form: string;
}

/**
 * The parameters of type `special` that compare places, by URL: their definitions describe the comparison in prose only.
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

/** How a parameter compares places; undefined: it is not a parameter of places. */
export function placesOf({ type, url }: { readonly type: string; readonly url?: string }): PlaceParameter | undefined {
  return type === 'special' && url !== undefined && Object.hasOwn(PLACES, url) ? PLACES[url] : undefined;
}

/** The kind of index entries that a parameter has: its search type, or its kind of places; undefined: it has none. */
export function valuesOf(row: SearchRow): Exclude<SearchRow['type'], 'special'> | PlaceKind | undefined {
  return row.type === 'special' ? placesOf(row)?.kind : row.type;
}

/** Modifiers that search tokens and references by the text beside them. https://hl7.org/fhir/R5/search.html#modifiers */
export const TEXT_MODIFIERS: readonly string[] = ['text', 'text-advanced'];

/** Whether a parameter always searches words: `_text`, `_content`, and every parameter whose values are narratives. */
export function isWords({ code, type, paths }: Pick<SearchRow, 'code' | 'type' | 'paths'>): boolean {
  if (code === CONTENT || code === NARRATIVE) return true;
  return (
    type === 'special' && paths.length > 0 && paths.every(({ types }) => types.every((each) => each === 'Narrative'))
  );
}

/** Whether a parameter with this modifier (`''`: none) searches words. */
export function takesWords(row: Pick<SearchRow, 'code' | 'type' | 'paths'>, modifier: string): boolean {
  if (isWords(row)) return modifier === '';
  if (row.type !== 'token' && row.type !== 'reference') return false;
  // The FHIRPath library returns values without the text beside them.
  if (!TEXT_MODIFIERS.includes(modifier) || row.paths.some(({ library }) => library === true)) return false;
  return row.paths.some(({ types }) => types.some(hasDisplays));
}

/** Whether a parameter asks for membership in Lists, Groups or CareTeams. https://hl7.org/fhir/R5/search.html#_in */
export function isMembership(code: string): code is '_list' | '_in' {
  return code === '_list' || code === '_in';
}

/** No code of a search parameter ends with it. */
const LOCAL = '#';

/**
 * The parameter that indexes references to contained resources of the same resource (`#m1`). Its entries have a `fragment` only,
 * which stores resolve to the contained resource. A search reaches them by a chain or `:missing` alone.
 */
export function localParam(param: string): string {
  return param + LOCAL;
}

/** Whether a parameter is one of those that `localParam` names. */
export function isLocalParam(param: string): boolean {
  return param.endsWith(LOCAL);
}
