import type { IndexEntry } from './entry.js';

/**
 * Parameter of the entry of a resource on which the expression of some parameter failed, or cost too much. The entries
 * of that parameter are missing, and the store knows that as long as it has the resource in this state. No name of a
 * search parameter begins with a point.
 */
export const UNINDEXED = '.unindexed';

/** @param codes of the parameters */
export function unindexedEntries(codes: Iterable<string>): IndexEntry[] {
  return [...codes].map((code) => ({ kind: 'token', param: UNINDEXED, code }));
}
