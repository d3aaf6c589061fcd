import type { Snapshot } from '../read/snapshot.js';

/**
 * A write is committed within this time after its stamp (`MAX_AGE` of the writer, and something for the commit itself and for
 * clocks that differ), in milliseconds. So all that was stamped that long before a snapshot is in it.
 */
const COMMITTED_WITHIN = 5000;

/** The instant before which nothing new appears after a snapshot. @param now the server's time */
export async function completeOf(snapshot: Snapshot, now: () => number): Promise<number> {
  const { seconds } = await snapshot.time();
  // The cluster's time may run ahead of the clock after a change of the primary.
  return Math.floor(Math.min(seconds * 1000, now())) - COMMITTED_WITHIN;
}
