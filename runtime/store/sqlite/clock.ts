import type { Database } from 'better-sqlite3';

/** How far ahead of the clock stamps may run when commits are less than a millisecond apart. */
const MAX_AHEAD = 5;

/**
 * Gives versions their order and time. All versions of one commit are later than those of every commit before: so
 * whoever has seen a commit knows that nothing new can appear up to its highest time.
 */
export interface WriteClock {
  /** Reads where the file is. Inside a write transaction. */
  begin(given: number | undefined): void;
  /** The next place in the order. */
  nextSeq(): number;
  /** The time of a version that follows one of this time, or none. */
  stamp(before: number | undefined): number;
  /** Where it is, to come back to after a savepoint was rolled back. */
  mark(): ClockMark;
  restore(mark: ClockMark): void;
  /** Stores where it is, if it moved. Before the commit. */
  save(): void;
  /** Waits where the next stamp would run ahead of the clock too far. Before the transaction, never in it. */
  waitForTime(): void;
}

/** A place in order and time. */
export interface ClockMark {
  readonly seq: number;
  readonly updated: number;
}

/** The clock of a file. */
export function openWriteClock(db: Database): WriteClock {
  const select = db.prepare<[], ClockMark>('SELECT seq, updated FROM clock');
  const update = db.prepare<[number, number]>('UPDATE clock SET seq = ?, updated = ?');
  const pause = new Int32Array(new SharedArrayBuffer(4));
  let seq = 0;
  let updated = 0;
  let from = 0;
  let isFirst = true;
  let floor: ClockMark = { seq: 0, updated: 0 };
  return {
    begin(given) {
      floor = select.get() ?? { seq: 0, updated: 0 };
      ({ seq, updated } = floor);
      from = Math.max(given ?? Date.now(), floor.updated + 1);
      isFirst = true;
    },
    nextSeq: () => ++seq,
    stamp(before) {
      const least = isFirst ? from : updated;
      isFirst = false;
      updated = before === undefined ? least : Math.max(least, before + 1);
      return updated;
    },
    mark: () => ({ seq, updated }),
    restore(mark) {
      ({ seq, updated } = mark);
      isFirst = updated === floor.updated;
    },
    save() {
      if (seq !== floor.seq) update.run(seq, updated);
    },
    waitForTime() {
      const ahead = updated - Date.now();
      // Much further ahead the clock was turned back, or a test has set it: time goes on by single steps then.
      if (ahead >= MAX_AHEAD && ahead < 1000) Atomics.wait(pause, 0, 0, ahead - MAX_AHEAD + 1);
    },
  };
}
