import type { Database } from 'better-sqlite3';

const MEGABYTE = 1024 * 1024;

/**
 * What in the log is worth writing back, beside the writer, in bytes. A page that many commits change is written back once for all of
 * them, so that fewer checkpoints write less.
 */
const WORTH = 64 * MEGABYTE;

/** Length at which the log has to be begun anew, in bytes. */
export const LONG_LOG = 128 * MEGABYTE;

/**
 * What the writer itself writes back at most to get there, unless the log has grown to twice its length, in bytes: writes wait some 3 ms
 * for it, for 8 MB 20 ms.
 */
const SHORT_STALL = MEGABYTE;

/** Between two times that the writer does that, in milliseconds: a reader that holds on to an old snapshot may make it vain. */
const PAUSE = { short: 200, long: 500 };

/** Of the log and of what is written back of it, in pages. */
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
  const pageSize = db.pragma('page_size', { simple: true }) as number;
  let lastStall = -Infinity;
  return {
    look() {
      const state = noop.get();
      if (state === undefined) return false;
      const length = state.log * pageSize;
      const left = length - state.checkpointed * pageSize;
      const pause = left < SHORT_STALL ? PAUSE.short : length > 2 * LONG_LOG ? PAUSE.long : Infinity;
      if (length > LONG_LOG && performance.now() - lastStall > pause) {
        passive.get();
        lastStall = performance.now();
        return false;
      }
      // The less is left, the shorter the next time takes, in which the writer goes on: so at last it is little.
      return left > (length > LONG_LOG ? SHORT_STALL : WORTH);
    },
  };
}
