import type { Database } from 'better-sqlite3';

/** A version in order and time. */
export interface VersionPlace {
  readonly seq: number;
  readonly updated: number;
}

/**
 * Finds the `seq` of the last version before a time by bisection; 0: there is none. Times never fall along `seq`. Inside a transaction.
 */
export function openLastBefore(db: Database): (time: number, newest: number) => number {
  const placeAt = db.prepare<[number], VersionPlace>(
    'SELECT seq, updated FROM version WHERE seq <= ? ORDER BY seq DESC LIMIT 1',
  );
  return (time, newest) => {
    let low = 0;
    let high = newest;
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      const place = placeAt.get(middle);
      if (place === undefined || place.updated < time) low = middle;
      else high = place.seq - 1;
    }
    return low;
  };
}
