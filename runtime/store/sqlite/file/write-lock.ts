import { SqliteError, type Database } from 'better-sqlite3';

/** Longest pause between two attempts, in milliseconds. */
const MAX_PAUSE = 4;

/** After another process wrote, it is given the time to do so again before we take the lock back. */
const COURTESY = 1;
const REMEMBERED = 100;

/** Begins write transactions, for as long as `wait` milliseconds against other processes. */
export function openWriteLock(db: Database, wait: number): { begin(): void; ended(): void } {
  const immediate = db.prepare('BEGIN IMMEDIATE');
  const dataVersion = db.prepare<[], number>('PRAGMA data_version').pluck();
  const cell = new Int32Array(new SharedArrayBuffer(4));
  const sleep = (ms: number): unknown => Atomics.wait(cell, 0, 0, ms);
  let seen = dataVersion.get();
  let lastForeign = -Infinity;
  let lastOwn = -Infinity;
  return {
    begin() {
      const start = performance.now();
      // SQLite's lock has no queue: without this, who holds it takes it again before anybody wakes up.
      if (start - lastForeign < REMEMBERED && start - lastOwn < COURTESY) sleep(COURTESY);
      for (let pause = 0.1; ; pause = Math.min(pause * 2, MAX_PAUSE)) {
        try {
          immediate.run();
          break;
        } catch (error) {
          const isBusy = error instanceof SqliteError && error.code.startsWith('SQLITE_BUSY');
          if (!isBusy || performance.now() - start > wait) throw error;
          lastForeign = performance.now();
          sleep(pause);
        }
      }
      const now = dataVersion.get();
      if (now !== seen) lastForeign = performance.now();
      seen = now;
    },
    ended() {
      lastOwn = performance.now();
    },
  };
}
