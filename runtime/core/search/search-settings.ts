import { MAX_LINKS } from '../../search/parse/link-name.js';

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
  /** Links in the name of one parameter, chains and reverse chains together. */
  readonly links: number;
  /** Resources that come with a page beside the matches, at most. */
  readonly includes: number;
  /** How often `:iterate` goes on from what was included. */
  readonly includeRounds: number;
}

/** Where the configuration says nothing. */
export const DEFAULT_SEARCH: SearchSettings = {
  handling: 'strict',
  count: 20,
  maxCount: 1000,
  values: 1000,
  postValues: 10_000,
  links: MAX_LINKS,
  includes: 1000,
  includeRounds: 5,
};

/** Criteria and includes in one search. Stores compile each, and have to hold all. */
export const MAX_CRITERIA = 200;

/** Keys of one order. */
export const MAX_SORT_KEYS = 10;
