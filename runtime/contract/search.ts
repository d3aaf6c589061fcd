/**
 * Rows that describe search parameters: where their values are, and what they may be asked.
 * Specification: https://hl7.org/fhir/R5/search.html, https://hl7.org/fhir/R5/searchparameter.html
 */

/** https://hl7.org/fhir/R5/valueset-search-param-type.html */
export type SearchType =
  'number' | 'date' | 'string' | 'token' | 'reference' | 'composite' | 'quantity' | 'uri' | 'special';

/** The resource itself does not move: a step takes the values found so far to the next ones. */
export type PathStep =
  /** The child of this name; the values of an array one by one. */
  | { readonly get: string }
  /** The child of a choice element: JSON names and the type of each (`valueQuantity: 'Quantity'`). */
  | { readonly choose: Readonly<Record<string, string>> }
  /** Keeps values from which these steps reach anything (or, with `equals`, exactly this one value). */
  | { readonly where: readonly PathStep[]; readonly equals?: string | boolean }
  /** Keeps references whose target is of this resource type: `where(resolve() is T)`. */
  | { readonly refers: string }
  /** Keeps resources of this type: `as T`, `ofType(T)`. */
  | { readonly is: string }
  /** The extensions of this url. */
  | { readonly extension: string }
  /** The value at this position, over all values found so far: `[0]`, `first()`. */
  | { readonly index: number }
  /** The values that each of these ways reaches, in this order, equal ones once: `(a | b)`. */
  | { readonly union: readonly (readonly PathStep[])[] }
  /** One boolean: something is there and it is not `false`: `x.exists() and x != false`. */
  | { readonly notFalse: true };

/** One branch of an expression: a way from the resource (for a component: from the composite's value) to values. */
export interface PathRow {
  /** The branch in FHIRPath, after corrections. For people and tests; the runtime follows `steps`. */
  readonly text: string;
  readonly steps: readonly PathStep[];
  /** Names of the types that the values at its end may have. */
  readonly types: readonly string[];
  /** Code system of the `code` values at its end, where their required binding draws on one system alone. */
  readonly system?: string;
  /** There are no steps: `text` is evaluated. Never so in generated rows. */
  readonly isEvaluated?: true;
}

/** One part of a composite parameter. */
export interface ComponentRow {
  /** The code of the parameter it stands for, where the package publishes that one; else the element's path. */
  readonly code: string;
  readonly type: SearchType;
  readonly paths: readonly PathRow[];
  /** Code of a parameter of the same resource type that has every value of this part, too; absent: none is known. */
  readonly coveredBy?: string;
}

/** How many sort slots there are, for all types: a store may have an index for each. */
export const SORT_SLOTS = 14;

/** A search parameter as one resource type has it. */
export interface SearchRow {
  readonly code: string;
  readonly type: SearchType;
  /** Canonical of its SearchParameter. */
  readonly url: string;
  /** Empty for parameters that are not read off an element (`_text`, `_has`). */
  readonly paths: readonly PathRow[];
  /** Resource types that a reference parameter may point to; absent: any, or not a reference. */
  readonly targets?: readonly string[];
  readonly components?: readonly ComponentRow[];
  /** Codes of parameters of the same resource type that have together just the values of this one, or one that has the same; absent: none are known. */
  readonly unionOf?: readonly string[];
  /** What its definition admits, where that names any; absent: all that its type has. */
  readonly comparators?: readonly string[];
  readonly modifiers?: readonly string[];
  /**
   * Of a reference parameter: its one path is an element that the specification marks as a hierarchy: resources refer to
   * what they are part of, or come from, level by level.
   * https://hl7.org/fhir/extensions/StructureDefinition-structuredefinition-hierarchy.html
   */
  readonly hierarchy?: true;
  /** Not generated: a SearchParameter in the store defines it. What its definition admits is all that is taken then. */
  readonly isStored?: true;
  /** Its name may be once in a search; its value has no alternatives. Only of stored ones. */
  readonly once?: true;
  readonly single?: true;
  /** Number of the scalar sort slot, below `SORT_SLOTS`, for string, date, number and quantity parameters. */
  readonly slot?: number;
}

/** Another name of a search parameter, which requests may use instead of its code. */
export interface AliasRow {
  readonly name: string;
  /** Code of the parameter that it stands for, of the same type or inherited. */
  readonly code: string;
}

/** The search parameters that one type adds to those of its base. */
export interface SearchTable {
  /** A resource type; `Resource` and `DomainResource` hold what all their types inherit. */
  readonly type: string;
  readonly base?: string;
  readonly parameters: readonly SearchRow[];
  /** No name is also a code. Nothing is indexed by them. */
  readonly aliases?: readonly AliasRow[];
}

/** Which parameters make a resource part of a compartment. https://hl7.org/fhir/R5/compartmentdefinition.html */
export interface CompartmentRow {
  /** `Patient`: the type that the compartment is named after. */
  readonly type: string;
  readonly url: string;
  /** Resource type -> codes of reference parameters; `{def}`: the compartment's own resource. */
  readonly members: Readonly<Record<string, readonly string[]>>;
}
