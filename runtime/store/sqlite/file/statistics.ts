import type { Database } from 'better-sqlite3';

/** Writes after which statistics are refreshed for the first time; each further time it takes twice as many. */
const FIRST = 500;
const MOST = 200_000;
const INTERVAL = 3_600_000;

/**
 * Keeps the statistics by which SQLite plans: without them it goes wrong by orders of magnitude. Rows are sampled, so a
 * refresh takes milliseconds on a file of any size. https://www.sqlite.org/lang_analyze.html
 */
export function openStatistics(db: Database): {
  wrote(count: number): void;
  /** @returns whether it did */ refresh(): boolean;
} {
  db.pragma('analysis_limit = 400');
  let writes = 0;
  let due = FIRST;
  let last = performance.now();
  return {
    wrote(count) {
      writes += count;
    },
    refresh() {
      if (writes < due && (writes === 0 || performance.now() - last < INTERVAL)) return false;
      due = Math.min(due * 2, MOST);
      writes = 0;
      last = performance.now();
      try {
        // All tables, also those that this connection never queries.
        db.pragma('optimize = 0x10002');
        return true;
      } catch {
        // Another process writes, or the disk is full: next time.
        return false;
      }
    },
  };
}
