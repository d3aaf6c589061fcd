import type { Change } from './store.js';

/** What each further change adds to the time that a write may take, in milliseconds. */
const EACH_CHANGE = 5;

/**
 * How much longer a write of so many changes may take than one of a few, in milliseconds. On an idle machine 5,000 take
 * 1 to 5 s on either store; a transaction of MongoDB ends after 60 s, whatever the client would wait for.
 */
export function moreTime(changes: number): number {
  return changes * EACH_CHANGE;
}

/** How many changes some are as good as: what is within a resource takes as long as a resource would. */
export function countChanges(changes: readonly Change[]): number {
  const within = (change: Change): number => (change.body === undefined ? 0 : (change.contained ?? []).length);
  return changes.reduce((sum, change) => sum + 1 + within(change), 0);
}
