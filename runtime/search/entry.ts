/**
 * Index entries: what a search can find a resource by. One kind for each way of comparing; a store keeps each kind
 * in a table or array of its own. https://hl7.org/fhir/R5/search.html#table
 */

/** Fields that every entry has. */
interface Entry {
  /** Code of the search parameter. */
  readonly param: string;
}

export interface TokenEntry extends Entry {
  readonly kind: 'token';
  /** Absent: the value has no system. */
  readonly system?: string;
  /** Absent: a coding without a code. */
  readonly code?: string;
  /** For an Identifier: the codings of its type, for `:of-type`. */
  readonly ofType?: readonly { readonly system?: string; readonly code: string }[];
}

export interface StringEntry extends Entry {
  readonly kind: 'string';
  /** The text as it stands. */
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

export interface NumberEntry extends Entry {
  readonly kind: 'number';
  readonly value: number;
}

export interface QuantityEntry extends Entry {
  readonly kind: 'quantity';
  readonly value: number;
  readonly system?: string;
  /** The coded unit; without one, the unit's text. */
  readonly code?: string;
  readonly unit?: string;
}

export interface ReferenceEntry extends Entry {
  readonly kind: 'reference';
  /** Type and id of a resource on this server or, with `base`, on another. */
  readonly type?: string;
  readonly id?: string;
  readonly version?: string;
  /** Base URL before `Type/id` of an absolute reference. */
  readonly base?: string;
  /** Whole text of what has no `Type/id` form: canonical without version, `urn:uuid:…`. */
  readonly url?: string;
  /** Logical reference: `Reference.identifier`. */
  readonly identifier?: { readonly system?: string; readonly value: string };
}

export interface UriEntry extends Entry {
  readonly kind: 'uri';
  readonly value: string;
}

/** One value of a composite parameter: the entries of each component, all from the same element. */
export interface CompositeEntry extends Entry {
  readonly kind: 'composite';
  readonly parts: readonly (readonly SimpleEntry[])[];
}

export type SimpleEntry =
  | TokenEntry
  | StringEntry
  | DateEntry
  | NumberEntry
  | QuantityEntry
  | ReferenceEntry
  | UriEntry;

export type IndexEntry = SimpleEntry | CompositeEntry;
