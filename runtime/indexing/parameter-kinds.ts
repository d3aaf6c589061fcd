import type { ComponentRow, SearchRow, SearchType } from '../contract/search.js';
import { hasDisplays } from './text/displays.js';
import { CONTENT, NARRATIVE } from './text/parameters.js';

/** The kinds of search parameters beyond their search type, and what can be asked of each kind. */

/** Kind of the values of a parameter of places: points, or regions that contain points. */
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
  if (!TEXT_MODIFIERS.includes(modifier) || row.paths.some(({ isEvaluated }) => isEvaluated === true)) return false;
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

/** Parameters that are no criteria of one type, and why: the text continues the name of the parameter. */
export const NO_CRITERIA: Readonly<Record<string, string>> = {
  _filter: 'is asked of the type that is searched; its paths may lead over references: _filter=subject.name co "x"',
  _has: 'needs its parts in its name: _has:Type:reference:parameter, as in _has:Observation:patient:code',
  _query: 'names a query that a server has, and there are none here; say it with the parameters of the type',
  _include: 'says what comes with the matches, and is no criterion of them',
  _revinclude: 'says what comes with the matches, and is no criterion of them',
  _type: 'belongs to searches of the whole system, [base]?_type=…; the type that is searched here is known already',
};

/** Parameters without index entries of their own, and what documentation says of their values. */
export const OF_THEIR_OWN: Readonly<Record<string, string>> = {
  _filter:
    'Comparisons of the parameters listed, but for those of words and membership, combined by and, or, not and parentheses',
  _list: 'Ids of Lists; functional lists there are none',
  _in: 'Modifiers: :not. Active members of Group/[id], List/[id], CareTeam/[id]',
};

/** Parameters that all types have, but a search over several types does not take. */
export const OF_ONE_TYPE: ReadonlySet<string> = new Set(['_in']);

/** The search types whose values are compared one by one. `parse/parse-value.ts` has a parser for each. */
export const PLAIN_TYPES = ['token', 'string', 'uri', 'date', 'number', 'quantity', 'reference'] as const;

/** One of them. */
export type PlainType = (typeof PLAIN_TYPES)[number];

const PLAIN: ReadonlySet<SearchType> = new Set(PLAIN_TYPES);

/** Whether a search by a parameter works: its values can be read and compared. */
export function isSearchable(row: SearchRow): boolean {
  const isApart = [NO_CRITERIA, OF_THEIR_OWN].some((codes) => Object.hasOwn(codes, row.code));
  if (isApart) return false;
  if (placesOf(row) !== undefined || isWords(row)) return true;
  if (row.type !== 'composite') return isReadable(row);
  const { components = [] } = row;
  return row.paths.length > 0 && components.length > 0 && components.every(isReadable);
}

function isReadable({ type, paths }: ComponentRow | SearchRow): boolean {
  return PLAIN.has(type) && paths.some(({ types }) => types.length > 0);
}

/** Whether a reference may lead to a type. */
export function refersTo({ type, targets }: SearchRow, target: string): boolean {
  return type === 'reference' && targets?.includes(target) !== false;
}

/** Types of references that name a resource by type and id, if they name one. */
const BY_ID: ReadonlySet<string> = new Set(['Reference', 'CodeableReference']);

/** Whether values of a reference may name a resource by its URL, as canonicals do. */
export function namesByUrl({ paths }: SearchRow): boolean {
  return paths.some(({ types }) => types.some((type) => !BY_ID.has(type)));
}

/** Whether a reference leads to a resource within the same resource, such as the first resource of a Bundle. */
export function isInline({ type, paths }: SearchRow): boolean {
  return (
    type === 'reference' && paths.length > 0 && paths.every(({ types }) => types.every((each) => each === 'Resource'))
  );
}
