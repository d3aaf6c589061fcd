/** What the names of parameters with links, and filters, are made of. Filters have paths, and links of paths may have filters. */

/** One link of a name. */
export type LinkStep = ChainStep | HasStep;

/** `subject`, `subject:Patient`: to what a reference parameter refers to. */
export interface ChainStep {
  readonly by: 'chain';
  readonly code: string;
  readonly type?: string;
  /** What it leads to has to fulfil this, too: `subject[active eq true]`, in paths of filters. */
  readonly filter?: Filter;
}

/** `_has:Observation:patient`: to what refers here. */
export interface HasStep {
  readonly by: 'has';
  readonly type: string;
  readonly code: string;
}

/** A name taken apart. */
export interface LinkName {
  readonly steps: readonly LinkStep[];
  /** The parameter that the last step leads to, with its modifier if it has one. */
  readonly last: string;
}

/** A filter as it is written: what it means depends on the type that it is about. https://hl7.org/fhir/R5/search_filter.html */
export type Filter =
  | { readonly is: 'and' | 'or'; readonly parts: readonly Filter[] }
  | { readonly is: 'not'; readonly filter: Filter }
  | FilterTest;

/** One comparison: of the values that a path leads to, by an operator, with a value. */
export interface FilterTest {
  readonly is: 'test';
  readonly path: LinkName;
  /** The path as it is written, for messages. */
  readonly text: string;
  readonly operator: FilterOperator;
  readonly value: string;
}

/** https://hl7.org/fhir/R5/search_filter.html#ops */
export const FILTER_OPERATORS = [
  'eq', 'ne', 'co', 'sw', 'ew', 'gt', 'lt', 'ge', 'le', 'ap', 'sa', 'eb', 'pr', 'po', 'ss', 'sb', 'in', 'ni', 're',
] as const; // prettier-ignore

/** One of them. */
export type FilterOperator = (typeof FILTER_OPERATORS)[number];
