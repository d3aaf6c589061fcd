/** What each further change adds to the time that a write may take, in milliseconds. */
const EACH_CHANGE = 5;

/**
 * How much longer a write of so many changes may take than one of a few, in milliseconds. On an idle machine 5,000 take
 * 1 to 5 s on either store; a transaction of MongoDB ends after 60 s, whatever the client would wait for.
 */
export function moreTime(changes: number): number {
  return changes * EACH_CHANGE;
}
