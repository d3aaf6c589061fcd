import type { IndexRows } from '../../bson/documents.js';

/** The arrays of index rows. */
export type Kind = Exclude<keyof IndexRows, 'covered'>;

/** Value that fields of rows are compared with. */
export type Value = string | number | Date;

/** A range of values; absent bounds are open. */
export interface Range {
  readonly gt?: Value;
  readonly gte?: Value;
  readonly lt?: Value;
  readonly lte?: Value;
}

/** Test that a field of a row has to fulfil. */
export type FieldTest =
  | { readonly in: readonly Value[] }
  | { readonly range: Range }
  | { readonly isAbsent: true }
  | { readonly contains: string }
  /** Text begins with this; ASCII letters of either case are alike. It has none in upper case. */
  | { readonly beginsAnyCase: string }
  /** Text is this, or ends with this. */
  | { readonly equalsAnyCase: string }
  | { readonly ends: string }
  /** It does not fulfil this, and may be absent. */
  | { readonly differs: FieldTest }
  /** A regular expression of our own making. */
  | { readonly pattern: string }
  /** Some element of an array fulfils these. */
  | { readonly some: FieldTests };

/** Tests of several fields, all of which have to be fulfilled. */
export type FieldTests = Readonly<Record<string, FieldTest>>;

/** A test of a value as a test of the rows of one array and parameter. */
export interface RowTest {
  readonly kind: Kind;
  readonly p: string;
  readonly fields: FieldTests;
}
