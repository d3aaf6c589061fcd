import type { Change } from './store.js';

/**
 * Greatest number of contained resources in all resources of one write: each costs most of what a separate resource
 * would.
 */
export const MAX_CONTAINED = 10_000;

/** How much is within what some changes put in. */
export function countContained(changes: readonly Change[]): number {
  return changes.reduce((sum, change) => sum + (change.body === undefined ? 0 : (change.contained ?? []).length), 0);
}

/**
 * Cuts items that the server writes on its own account into pieces that one write may have, in their order. An item
 * that contains more than one write may have is a piece by itself.
 *
 * @param membersOf counts the resources that are contained in one item
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
