import type { Strip } from './places/regions.js';
import type { Point } from './places/sphere.js';

/**
 * Index entries: what a search can find a resource by. One kind for each way of comparing; a store keeps each kind
 * in a table or array of its own. https://hl7.org/fhir/R5/search.html#table
 */

/** Fields that every entry has. */
interface Entry {
  /** Code of the search parameter. */
  readonly param: string;
}

/** A code, an identifier, a boolean: equal or not. */
export interface TokenEntry extends Entry {
  readonly kind: 'token';
  /** Absent: the value has no system. */
  readonly system?: string;
  /** Absent: a coding without a code. */
  readonly code?: string;
  /** For an Identifier: the codings of its type, for `:of-type`. */
  readonly ofType?: readonly { readonly system?: string; readonly code: string }[];
}

/** A text, found by its beginning, by a part of it, or whole. */
export interface StringEntry extends Entry {
  readonly kind: 'string';
  /** The text as it is. */
  readonly text: string;
  /** The text folded for comparison: no case, no accents, white space collapsed. */
  readonly folded: string;
}

/** An interval of instants: milliseconds since the epoch, both ends within; absent: open. */
export interface DateEntry extends Entry {
  readonly kind: 'date';
  readonly low?: number;
  readonly high?: number;
}

/** A number, compared by ranges. */
export interface NumberEntry extends Entry {
  readonly kind: 'number';
  readonly value: number;
}

/**
 * A quantity: a point, or an interval where `low` or `high` is there (a Range, the span of SampledData, a value with
 * a comparator such as `<5`). Ends are within; an interval with one end is open at the other.
 */
export interface QuantityEntry extends Entry {
  readonly kind: 'quantity';
  /** The point; of an interval its low end, or the high one where it has no low. What sorting goes by. */
  readonly value: number;
  readonly low?: number;
  readonly high?: number;
  readonly system?: string;
  /** The coded unit; without one, the unit's text. */
  readonly code?: string;
  readonly unit?: string;
  /** The same in the canonical unit, where the unit is one of UCUM: `1 mg` and `0.001 g` are equal there. */
  readonly canonical?: CanonicalQuantity;
}

/** A point or an interval as in `QuantityEntry`, in a product of UCUM's base units. */
export interface CanonicalQuantity {
  /** `g`, `m.s-2`; `1` for what has no dimension. */
  readonly unit: string;
  readonly value: number;
  readonly low?: number;
  readonly high?: number;
}

/** A reference to a resource, here or elsewhere, or to what an identifier names. */
export interface ReferenceEntry extends Entry {
  readonly kind: 'reference';
  /** Type and id of a resource on this server or, with `base`, on another. */
  readonly type?: string;
  readonly id?: string;
  readonly version?: string;
  /** Base URL before `Type/id` of an absolute reference. */
  readonly base?: string;
  /** Whole text of what has no `Type/id` form: canonical without version and fragment, `urn:uuid:…`. */
  readonly url?: string;
  /** What follows `#` in a canonical. */
  readonly fragment?: string;
  /** Logical reference: `Reference.identifier`. */
  readonly identifier?: { readonly system?: string; readonly value: string };
}

/** A URI, compared as text. */
export interface UriEntry extends Entry {
  readonly kind: 'uri';
  readonly value: string;
}

/** One value of a composite parameter: the entries of each component, all from the same element. */
export interface CompositeEntry extends Entry {
  readonly kind: 'composite';
  readonly parts: readonly (readonly SimpleEntry[])[];
  /** Of each part another parameter has the values (`coveringOf`). A store keeps the entry to compare, but needs no index of it. */
  readonly isCovered?: true;
}

/**
 * The words of all values of a parameter, for full text: of `_text` and `_content`, and of what stands for people beside codes and
 * references. At most one for each parameter; that of `_content` has the text of that of `_text`, as far as there is room.
 */
export interface WordsEntry extends Entry {
  readonly kind: 'words';
  /** Of each value a line break and its words, folded, with a space on either side: `\n head pain \n migraine `. */
  readonly text: string;
}

/** An entry of one value. */
export type SimpleEntry =
  TokenEntry | StringEntry | DateEntry | NumberEntry | QuantityEntry | ReferenceEntry | UriEntry;

/** A point on the earth, in degrees. */
export interface PositionEntry extends Entry, Point {
  readonly kind: 'position';
}

/** A strip of a region on the earth. */
export interface RegionEntry extends Entry, Strip {
  readonly kind: 'region';
}

/** Index entry of a place. */
export type PlaceEntry = PositionEntry | RegionEntry;

/** Whether an entry is one of places. */
export function isPlace(entry: IndexEntry): entry is PlaceEntry {
  return entry.kind === 'position' || entry.kind === 'region';
}

/** Whether an entry is of one value, and of no place or words. */
export function isSimple(entry: IndexEntry): entry is SimpleEntry {
  return entry.kind !== 'composite' && entry.kind !== 'words' && !isPlace(entry);
}

/** Any entry. */
export type IndexEntry = SimpleEntry | PlaceEntry | CompositeEntry | WordsEntry;
