import { countContained, MAX_CONTAINED } from './write-contained.js';
import type { Change } from './store.js';

/** What each further change adds to the time that a write may take, and what each resource within another does, in milliseconds. */
const EACH = { change: 5, member: 2 } as const;

/**
 * How much longer than one of a few changes a write may take, in milliseconds. On an idle machine 5,000 changes take 1 to 5 s on either
 * store. As many as a Bundle has by default, with as much within them as a write may have, are given 45 s: a transaction of MongoDB
 * ends after 60 s, whatever the client would wait for.
 *
 * @param members resources within others
 */
export function moreTime(changes: number, members = 0): number {
  return changes * EACH.change + Math.min(members, MAX_CONTAINED) * EACH.member;
}

/** Returns how much longer a write of these changes may take, as `moreTime` has it. */
export function timeOf(changes: readonly Change[]): number {
  return moreTime(changes.length, countContained(changes));
}
