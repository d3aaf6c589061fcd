import type { SearchRow, SearchType } from '../../contract/search.js';

/** The type of resources that define search parameters. https://hl7.org/fhir/R5/searchparameter.html */
export const SEARCH_PARAMETER = 'SearchParameter';

/** Limits of stored parameters. */
export const STORED_LIMITS = {
  /** Parameters in effect. */
  parameters: 200,
  /** UTF-16 code units of an expression, also of a component. */
  expression: 4000,
  /** Alternatives of an expression. */
  branches: 100,
  /** Alternatives times the bases, and the types that components are parts of, that they may start from. */
  paths: 1000,
  /** Components of a composite. */
  components: 8,
  /** What all in effect take together: for each way of each type 100, and the UTF-16 code units of its expression. */
  together: 1_000_000,
  code: 64,
} as const;

/** A SearchParameter of the store that is to be in effect. */
export interface StoredParameter {
  readonly id: string;
  readonly url: string;
  readonly code: string;
  readonly type: SearchType;
  /** Rows by the type that they belong to: a resource type, or `Resource`, `DomainResource`. */
  readonly rows: ReadonlyMap<string, SearchRow>;
}

/** Fault of a stored parameter: where it is, what is wrong, and what would be right. */
export interface ParameterFault {
  /** `conflict`: with another parameter. */
  readonly kind: 'invalid' | 'conflict';
  readonly text: string;
  /** Element, and position where it repeats. */
  readonly path: readonly (string | number)[];
  /** Id of the stored parameter that it is in conflict with. For operators: clients may not see it, so `text` does not tell. */
  readonly other?: string;
  /** What it needs is not there, but may come with it in the same write. */
  readonly isMissing?: true;
  /** It is in conflict with a built-in one, so that it is never in effect, whatever else is stored. */
  readonly isBuiltIn?: true;
}

/** A fault of a parameter, thrown while it is read. */
export class ParameterError extends Error {
  constructor(readonly fault: ParameterFault) {
    super(fault.text);
    this.name = 'ParameterError';
  }
}
