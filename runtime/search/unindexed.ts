import type { IndexEntry } from './entry.js';

/**
 * What a resource is found by on which the expression of a parameter failed, or cost too much: its entries by that parameter are
 * missing, which the store knows as long as it holds the resource so. No name of a search parameter begins with a point.
 */
export const UNINDEXED = '.unindexed';

/** @param codes of the parameters */
export function unindexedEntries(codes: Iterable<string>): IndexEntry[] {
  return [...codes].map((code) => ({ kind: 'token', param: UNINDEXED, code }));
}
