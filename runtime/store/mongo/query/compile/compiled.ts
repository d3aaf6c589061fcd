import type { Document } from 'mongodb';

import type { Access } from '../plan/access.js';

/** A way to all that fulfils a condition; or one to each of its alternatives, of which each has some. */
export type Way = Access | { readonly any: readonly (readonly Way[])[] };

/** A condition as a filter, and the ways to what fulfils it. */
export interface Compiled {
  readonly filter: Document;
  /** Each finds all that fulfils the condition; none: only a walk through all resources does. */
  readonly ways: readonly Way[];
}

/** The filter that nothing fulfils. */
export const NONE: Document = { _id: { $in: [] } };

/** A condition that nothing fulfils. Its way has no arms, so it is the shortest. */
export const NOTHING_COMPILED: Compiled = { filter: NONE, ways: [{ arms: [], isExact: true }] };

/** All of these; of none: everything. */
export function everyOf(filters: readonly Document[]): Document {
  const [only = {}] = filters;
  return filters.length < 2 ? only : { $and: [...filters] };
}

/** The condition that one of several has to be fulfilled. */
export function anyOf(compiled: readonly Compiled[]): Compiled {
  const [only] = compiled;
  if (only === undefined) return NOTHING_COMPILED;
  if (compiled.length === 1) return only;
  const isFound = compiled.every(({ ways }) => ways.length > 0);
  return {
    filter: { $or: compiled.map(({ filter }) => filter) },
    ways: isFound ? [{ any: compiled.map(({ ways }) => ways) }] : [],
  };
}

/** Returns the same ways for a narrower condition: what they lead to may not fulfil it. */
export function inexact(ways: readonly Way[]): readonly Way[] {
  return ways.map((way) => ('any' in way ? { any: way.any.map(inexact) } : { arms: way.arms }));
}
