import type { Document } from 'mongodb';

import type { Access } from '../plan/access.js';

/** A condition as a filter, and the ways to what fulfils it. */
export interface Compiled {
  readonly filter: Document;
  /** Each finds all that fulfils the condition; none: only a walk through all resources does. */
  readonly accesses: readonly Access[];
  /** Alternatives of which at least one is fulfilled, each with its own access paths; absent if they are not separated. */
  readonly alternatives?: readonly Compiled[];
}

/** The filter that nothing fulfils. */
export const NONE: Document = { _id: { $in: [] } };

/** All of these; of none: everything. */
export function everyOf(filters: readonly Document[]): Document {
  const [only = {}] = filters;
  return filters.length < 2 ? only : { $and: [...filters] };
}
