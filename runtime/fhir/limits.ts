/** Bounds on what a client may ask of the server. Sizes are in bytes, times in milliseconds. */
export interface Limits {
  /** A body, inflated. */
  readonly body: number;
  /** A resource with its index entries; the content of a Binary aside. */
  readonly resource: number;
  /** Entries of a batch or transaction. */
  readonly entries: number;
  /** Objects and arrays within each other in a JSON body. */
  readonly nesting: number;
  /** A URL, in characters. */
  readonly url: number;
  /** The request line and all headers. */
  readonly headers: number;
  /** Versions on a page of history; more are cut. */
  readonly historyPage: number;
  /** All searches that one request needs in the store; absent: what the store gives each. */
  readonly queryTime?: number;
  /** An answer that a job keeps; a quarter of it is the most that a status has in its Bundle. Absent: 256 MB. */
  readonly jobAnswer?: number;
  /**
   * From the beginning of a write to its answer, longer for many changes; `Infinity`: no client waits for the answer. Absent: 13 s.
   */
  readonly answerTime?: number;
  /** From the first byte of a request to the end of its headers. */
  readonly headersTime: number;
  /** From the first byte of a request to the end of its body. */
  readonly requestTime: number;
  /** Between two pieces of a body. */
  readonly bodyIdleTime: number;
  /** Nothing sent or taken on a connection while a request is in progress. */
  readonly connectionIdleTime: number;
  /** A connection without a request stays open. */
  readonly keepAliveTime: number;
}

/** Time of a query for which no request waits, in milliseconds: the largest store is counted within it. */
export const LONG_QUERY_TIME = 600_000;

/** The limits where the configuration says nothing. */
export const DEFAULT_LIMITS: Limits = {
  body: 50 * 1024 * 1024,
  resource: 15 * 1024 * 1024,
  entries: 5000,
  nesting: 100,
  url: 8192,
  // Room for a URL of 8 kB, which is judged later, and a token.
  headers: 64 * 1024,
  historyPage: 1000,
  headersTime: 30_000,
  requestTime: 300_000,
  bodyIdleTime: 30_000,
  connectionIdleTime: 300_000,
  // Load balancers keep connections for 60 s, and lose a request on one that the server closes at that moment.
  keepAliveTime: 65_000,
};
