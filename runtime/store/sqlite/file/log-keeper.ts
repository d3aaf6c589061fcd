import type { Database } from 'better-sqlite3';

/**
 * Pages of the log that are worth writing back, beside the writer: 32 MB. A page that many commits change is written back once for all
 * of them, so that fewer checkpoints write less.
 */
const WORTH = 8000;

/** Pages at which the log has to be begun anew: 64 MB. */
const LONG = 16_000;

/**
 * What the writer itself writes back at most to get there, unless the log has grown to twice its length: a megabyte, for which writes
 * wait some 3 ms, of 2,000 pages 20 ms.
 */
const SHORT_STALL = 250;

/** Between two times that the writer does that, in milliseconds: a reader that holds on to an old snapshot may make it vain. */
const PAUSE = { short: 200, long: 500 };

interface Log {
  readonly log: number;
  readonly checkpointed: number;
}

/**
 * Keeps the write-ahead log short. Mostly another thread writes it back while the writer goes on, but then it never is at
 * the end, and the log grows: so where little is left, the writer does the rest, after which the log begins anew.
 * https://www.sqlite.org/wal.html#checkpointing
 */
export function openLogKeeper(db: Database): {
  /** @returns whether another thread should write back now */ look(): boolean;
} {
  // Only tells; the others also do.
  const noop = db.prepare<[], Log>('PRAGMA wal_checkpoint(NOOP)');
  const passive = db.prepare<[], Log>('PRAGMA wal_checkpoint(PASSIVE)');
  let lastStall = -Infinity;
  return {
    look() {
      const state = noop.get();
      if (state === undefined) return false;
      const left = state.log - state.checkpointed;
      const pause = left < SHORT_STALL ? PAUSE.short : state.log > 2 * LONG ? PAUSE.long : Infinity;
      if (state.log > LONG && performance.now() - lastStall > pause) {
        passive.get();
        lastStall = performance.now();
        return false;
      }
      // The less is left, the shorter the next time takes, in which the writer goes on: so at last it is little.
      return left > (state.log > LONG ? SHORT_STALL : WORTH);
    },
  };
}
