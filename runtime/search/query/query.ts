import type { Covering } from '../../indexing/covering.js';
import type { IndexEntry, SimpleEntry } from '../../indexing/entry.js';
import type { Point } from '../../indexing/places/sphere.js';

/**
 * A search as plain data: what stores compile, `match` evaluates on one resource, and `printCondition` shows. Nothing in
 * it depends on a store. https://hl7.org/fhir/R5/search.html
 */

/** Bounds of one end of an interval. Absent: none. */
export interface Interval {
  readonly gt?: number;
  readonly gte?: number;
  readonly lt?: number;
  readonly lte?: number;
}

/**
 * Bounds of both ends of an entry's interval; both have to be fulfilled. The ends of a point are alike; an open end is
 * beyond all numbers. Dates are milliseconds since the epoch.
 */
export interface Ends {
  readonly low?: Interval;
  readonly high?: Interval;
}

/** A system that a token, an identifier or a unit has to have; null: it must have none; absent: any. */
export type SystemTest = string | null;

/** Test for one value of a parameter. Only an entry of the same kind fulfils it. */
export type ValueTest =
  | TokenTest
  /** The code begins with this; ASCII letters of either case are alike. `lower` has none in upper case. */
  | { readonly is: 'token-code-begins'; readonly lower: string }
  | TokenCaseTest
  | { readonly is: 'of-type'; readonly system?: SystemTest; readonly code: string; readonly value: string }
  | { readonly is: 'string-begins' | 'string-contains' | 'string-ends'; readonly folded: string }
  | StringRangeTest
  | { readonly is: 'string-equals'; readonly text: string }
  | ({ readonly is: 'date' | 'number' } & Ends)
  | QuantityTest
  | ReferenceTest
  | { readonly is: 'identifier'; readonly system?: SystemTest; readonly value?: string }
  /** `below`: the URI or what lies below it as a path or URN; `above`: the URI or what it lies below. */
  | { readonly is: 'uri-equals' | 'uri-below' | 'uri-above'; readonly value: string };

/** Absent parts are not compared; a code that is absent matches any. */
export interface TokenTest {
  readonly is: 'token';
  readonly system?: SystemTest;
  readonly code?: string;
}

/**
 * `token-any-case`: as `token`, ASCII letters of the code alike in either case; `token-other`: all that it is not. `lower`,
 * the code, has none in upper case and is not empty; the system is compared as it is. One of both is there.
 */
export interface TokenCaseTest {
  readonly is: 'token-any-case' | 'token-other';
  readonly system?: SystemTest;
  readonly lower?: string;
}

/** The folded text lies within bounds, by code points. */
export interface StringRangeTest {
  readonly is: 'string-range';
  readonly gt?: string;
  readonly gte?: string;
  readonly lt?: string;
  readonly lte?: string;
}

/**
 * A quantity. With `canonical` the ends are those of the entry's canonical value, which has to be in this unit. Without it
 * they are as recorded, and the unit is compared by system and code, or by code or text of the unit where `system` is
 * absent.
 */
export interface QuantityTest extends Ends {
  readonly is: 'quantity';
  readonly canonical?: string;
  readonly system?: string;
  readonly unit?: string;
}

/** Where a reference points. At least `id` or `url` is there. */
export interface ReferenceTest {
  readonly is: 'reference';
  /** Types of the target, any of them; absent: any type. */
  readonly types?: readonly string[];
  readonly id?: string;
  /** Base URL of another server; absent: this one. */
  readonly base?: string;
  /** A version that the reference has to name; absent: any, or none. */
  readonly version?: string;
  /** What the version begins with; it is not empty. */
  readonly versionPrefix?: string;
  /** Canonical or other URL without version and fragment. */
  readonly url?: string;
  readonly fragment?: string;
}

/** Test of a place: a position is near a point, within metres; a region is around a point, or has it at its edge. */
export type PlaceTest =
  ({ readonly is: 'near'; readonly distance: number } & Point) | ({ readonly is: 'around' } & Point);

/** Test of the words of a parameter. All words are as `wordsOf` returns them. */
export type WordsTest =
  /** Some value has these words one after another; one at least. */
  | { readonly phrase: readonly string[] }
  /**
   * Some value begins with these words, of which the last may go on; one at least, and 50 at most. Of `_text` and `_content` stores
   * need not know how values begin.
   */
  | { readonly begins: readonly string[] }
  /** All of these, of which there is one at least, and none of those. */
  | { readonly all: readonly WordsTest[]; readonly none: readonly WordsTest[] }
  | { readonly some: readonly WordsTest[] };

/** A condition on one resource. */
export type Condition =
  | { readonly all: readonly Condition[] }
  | { readonly some: readonly Condition[] }
  | { readonly not: Condition }
  | Link
  | Leaf;

/** A condition that other resources answer. `leadsTo` says what it is for a reference to lead to a resource. */
export type Link = Chain | Has;

/** Some reference of a parameter leads to a resource that fulfils a condition. https://hl7.org/fhir/R5/search.html#chaining */
export interface Chain {
  readonly param: string;
  /** What is asked of it, by its type: of types that are not named none will do. Each type is there once; there is one at least. */
  readonly chain: readonly Target[];
}

/** A resource of a type that fulfils a condition. */
export interface Target {
  readonly type: string;
  readonly where: Condition;
}

/** Some resource that fulfils a condition refers to this one by a parameter. https://hl7.org/fhir/R5/search.html#has */
export interface Has {
  readonly has: Target & {
    readonly param: string;
    /** Only what may be read of them is here, and no scope has to be asked for any more. */
    readonly isReadable?: true;
  };
}

/** A condition that index entries, or the head of a resource, answer by themselves. */
export type Leaf =
  /** Some entry of the parameter fulfils some of the tests. */
  | { readonly param: string; readonly any: readonly ValueTest[] }
  | CompositeLeaf
  /** Some place of the parameter fulfils some of the tests. */
  | { readonly param: string; readonly places: readonly PlaceTest[] }
  | PresenceLeaf
  | WordsLeaf
  /** The resource has one of these ids. */
  | { readonly ids: readonly string[] }
  /** `meta.lastUpdated` fulfils some of these; its ends are alike. */
  | { readonly updated: readonly Ends[] };

/** The words of the parameter, or of all that it is a union of together. */
export interface WordsLeaf extends Valued {
  readonly words: WordsTest;
}

/** Parameter whose values a condition is about. Other parameters may have these values (`valuedBy`). */
export interface Valued {
  /** Code of the search parameter. */
  readonly param: string;
  /** Codes of the parameters that it is a union of, which is stored nowhere by itself; absent: it is none. */
  readonly unionOf?: readonly string[];
}

/** The parameters that have the values. */
export function valuedBy({ param, unionOf = [param] }: Valued): readonly string[] {
  return unionOf;
}

/** Some value of a composite fulfils, for some of the alternatives, every part: each by some of its tests. */
export interface CompositeLeaf {
  readonly param: string;
  readonly composite: readonly (readonly (readonly ValueTest[])[])[];
  /** Parameters that have the values of the parts, too, one for each: stores may find resources by them. */
  readonly coveredBy?: readonly Covering[];
}

/** There is an entry of the parameter. */
export interface PresenceLeaf {
  readonly param: string;
  readonly present: Exclude<IndexEntry['kind'], 'words'>;
  /** Of a composite: as in `CompositeLeaf`. */
  readonly coveredBy?: readonly Covering[];
}

/** A leaf whose values other parameters have, too. */
export type CoveredLeaf = (CompositeLeaf | PresenceLeaf) & { readonly coveredBy: readonly Covering[] };

/**
 * References to resources of a hierarchy, as they are asked for. Which those are is in the store, so that they are
 * resolved into tests of references before a store or `matches` sees the condition.
 * https://hl7.org/fhir/R5/search.html#modifierbelow
 */
export interface HierarchyCriterion {
  readonly param: string;
  readonly hierarchies: readonly Hierarchy[];
}

/** Some resources of one type, and what lies above or below them. */
export interface Hierarchy {
  readonly direction: 'above' | 'below';
  readonly type: string;
  /** Code of the parameter of this type whose references lead up. */
  readonly by: string;
  /** Ids of the resources that it begins with; they belong to it, whether they exist or not. */
  readonly ids: readonly string[];
}

/**
 * Membership, as it is asked for: what is referenced by Lists (`_list`), or active members of resources (`_in`). Who is active is
 * read from the resources, so that they are looked up first. https://hl7.org/fhir/R5/search.html#_in
 */
export interface MembersCriterion {
  readonly members: '_list' | '_in';
  /** The type that is searched; absent: several, for which membership is not defined. */
  readonly type?: string;
  readonly of: readonly { readonly type: string; readonly id: string }[];
  readonly isNot: boolean;
  /** When: milliseconds since the epoch. */
  readonly now: number;
}

/** Codes that a terminology service knows, or all others. https://hl7.org/fhir/R5/search.html#modifierin */
export interface CodesCriterion {
  readonly param: string;
  readonly codes: readonly CodeSet[];
  readonly isNot: boolean;
}

/** The codes of a value set, by its canonical or as `ValueSet/id`; or a code with those above or below it. */
export type CodeSet =
  | { readonly is: 'in'; readonly valueSet: string }
  | { readonly is: 'above' | 'below'; readonly system: string; readonly code: string };

/**
 * Criterion of one parameter of a search. It is a condition, except for the parts that the store has to be asked about
 * first.
 */
export type Criterion =
  Condition | HierarchyCriterion | MembersCriterion | CodesCriterion | LinkCriterion | FilterCriterion;

/** Criteria that a filter joins. It is a condition where the store need not be asked about any of them first. */
export type FilterCriterion =
  { readonly all: readonly Criterion[] } | { readonly some: readonly Criterion[] } | { readonly not: Criterion };

/** A link in which the like may be; without them it is a `Link`. */
export type LinkCriterion =
  | { readonly param: string; readonly chain: readonly TargetCriterion[] }
  | { readonly has: TargetCriterion & { readonly param: string } };

/** A resource of a type that fulfils a criterion. */
export interface TargetCriterion {
  readonly type: string;
  readonly where: Criterion;
}

/** Every resource. */
export const EVERYTHING: Condition = { all: [] };

/** Whether a condition asks for nothing. */
export function isEverything(condition: Condition): boolean {
  return 'all' in condition && condition.all.length === 0;
}

/** No resource. */
export const NOTHING: Condition = { some: [] };

/**
 * One key of an order. Ascending goes by the least value of a resource, descending by its greatest; resources without any
 * come last both ways. `sortValue` says what is compared. https://hl7.org/fhir/R5/search.html#_sort
 */
export interface SortKey extends Valued {
  /** `id`, `updated`: the head of the resource. */
  readonly by: SimpleEntry['kind'] | 'id' | 'updated';
  readonly isDescending: boolean;
}
