import { MAX_LINKS } from '../../search/parse/link-name.js';

/** The settings of searches. */
export interface SearchSettings {
  /** Whether unknown parameters are refused or ignored, where the client does not say. */
  readonly handling: 'strict' | 'lenient';
  /** Matches on a page where the request has no `_count`. */
  readonly count: number;
  /** Most matches on a page; a greater `_count` means this one. */
  readonly maxCount: number;
  /** Most alternatives in the value of one parameter of a URL. */
  readonly values: number;
  /** Most alternatives in the value of one parameter of a posted search. */
  readonly postValues: number;
  /** Most links in the name of one parameter, chains and reverse chains together. */
  readonly links: number;
  /** Most included resources of a page. */
  readonly includes: number;
  /** How often `:iterate` continues from included resources. */
  readonly includeRounds: number;
}

/** The settings of a server without a configuration. */
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

/** Most criteria and includes of one search: stores compile each of them. */
export const MAX_CRITERIA = 200;

/** Most keys of `_sort`. */
export const MAX_SORT_KEYS = 10;
