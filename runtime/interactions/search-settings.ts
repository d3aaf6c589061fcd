/** What a configuration decides of searches. */
export interface SearchSettings {
  /** Whether what nobody knows in a request is refused or ignored, where the client does not say. */
  readonly handling: 'strict' | 'lenient';
  /** Matches on a page where the client does not say. */
  readonly count: number;
  /** Matches on a page at most; more are cut. */
  readonly maxCount: number;
  /** Alternatives in the value of one parameter of a URL. */
  readonly values: number;
  /** The same in a search that is posted. */
  readonly postValues: number;
}

/** Where the configuration says nothing. */
export const DEFAULT_SEARCH: SearchSettings = {
  handling: 'strict',
  count: 20,
  maxCount: 1000,
  values: 1000,
  postValues: 10_000,
};

/** Criteria in one search. Stores compile each, and have to hold all. */
export const MAX_CRITERIA = 200;

/** Keys of one order. */
export const MAX_SORT_KEYS = 10;
