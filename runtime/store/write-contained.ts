import type { Change } from './store.js';

/** What is within resources, of all that one write puts in: each takes most of what a resource of its own would. */
export const MAX_CONTAINED = 10_000;

/** How much is within what some changes put in. */
export function countContained(changes: readonly Change[]): number {
  return changes.reduce((sum, change) => sum + (change.body === undefined ? 0 : (change.contained ?? []).length), 0);
}

/**
 * What a program writes on its own account, in pieces that one write may have, in their order. What has more than that within it is a
 * piece by itself.
 *
 * @param membersOf how much is within one of them
 */
export function* cutByMembers<T>(
  items: readonly T[],
  membersOf: (item: T) => number,
  most = MAX_CONTAINED,
): Generator<readonly T[]> {
  let from = 0;
  let count = 0;
  for (const [at, item] of items.entries()) {
    const more = membersOf(item);
    if (at > from && count + more > most) {
      yield items.slice(from, at);
      from = at;
      count = 0;
    }
    count += more;
  }
  if (from < items.length) yield items.slice(from);
}
