import type { Database } from 'better-sqlite3';

/** How far ahead of the clock stamps may run when commits are less than a millisecond apart. */
const MAX_AHEAD = 5;

/**
 * Gives versions their order and time. All versions of one commit are later than those of every commit before: so
 * a reader that has seen a commit knows that nothing new can appear up to its highest time.
 */
export interface WriteClock {
  /** Reads where the file is. Inside a write transaction. */
  begin(given: number | undefined): void;
  /** The next place in the order. */
  nextSeq(): number;
  /** The time of a version that follows one of this time, or none. */
  stamp(before: number | undefined): number;
  /** Takes the time of a version that another store gave; what is stamped here from now on is later. */
  follow(updated: number): void;
  /** The highest time so far. */
  readonly updated: number;
  /** Where it is, to come back to after a savepoint was rolled back. */
  mark(): ClockMark;
  restore(mark: ClockMark): void;
  /** Stores where it is, if it moved. Before the commit. */
  save(): void;
  /** Waits where the next stamp would run ahead of the clock too far. Before the transaction, never in it. */
  waitForTime(): void;
}

/** A place in order and time. */
interface Place {
  readonly seq: number;
  readonly updated: number;
}

/** Where a clock is within a transaction. */
export interface ClockMark extends Place {
  /** What the next stamp may be at least. */
  readonly least: number;
}

/**
 * The instant before which nothing new can appear, milliseconds since the epoch; 0 where nothing was ever written.
 *
 * @param updated highest time of a commit
 */
export function completeAfter(updated = 0): number {
  return updated === 0 ? 0 : updated + 1;
}

/** The clock of a file. */
export function openWriteClock(db: Database): WriteClock {
  const select = db.prepare<[], Place>('SELECT seq, updated FROM clock');
  const update = db.prepare<[number, number]>('UPDATE clock SET seq = ?, updated = ?');
  const pause = new Int32Array(new SharedArrayBuffer(4));
  let seq = 0;
  let updated = 0;
  let least = 0;
  let begun: Place = { seq: 0, updated: 0 };
  return {
    begin(given) {
      begun = select.get() ?? { seq: 0, updated: 0 };
      ({ seq, updated } = begun);
      least = Math.max(given ?? Date.now(), updated + 1);
    },
    nextSeq: () => ++seq,
    stamp(previous) {
      updated = previous === undefined ? least : Math.max(least, previous + 1);
      least = updated;
      return updated;
    },
    follow(time) {
      updated = time;
      least = Math.max(least, time + 1);
    },
    get updated() {
      return updated;
    },
    mark: () => ({ seq, updated, least }),
    restore: (mark) => void ({ seq, updated, least } = mark),
    save() {
      if (seq !== begun.seq) update.run(seq, updated);
    },
    waitForTime() {
      const ahead = updated - Date.now();
      // Much further ahead the clock was turned back, or a test has set it: time goes on by single steps then.
      if (ahead >= MAX_AHEAD && ahead < 1000) Atomics.wait(pause, 0, 0, ahead - MAX_AHEAD + 1);
    },
  };
}
