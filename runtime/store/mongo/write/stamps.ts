/** The time of a version, and its place among those of the same millisecond. */
export interface Stamp {
  readonly updated: number;
  readonly n: number;
}

/** Gives versions their times: those of one process in the order in which they were asked for. */
export interface Stamps {
  /** For the versions of one write, in their order. */
  begin(): StampsOfWrite;
}

/** Times of one write, each after the one before. */
export interface StampsOfWrite {
  /** @param before the time of the version that this one follows */
  next(before: number | undefined): Stamp;
}

/** @param now the clock, in milliseconds since the epoch */
export function openStamps(now: () => number): Stamps {
  let last: Stamp = { updated: -Infinity, n: 0 };
  return {
    begin() {
      let previous = last;
      return {
        next(before) {
          const present = Math.max(Math.floor(now()), last.updated);
          const updated = Math.max(present, previous.updated, before === undefined ? -Infinity : before + 1);
          previous = { updated, n: Math.max(placeAt(last, updated), placeAt(previous, updated)) + 1 };
          // A version that follows one from the future is later than now; other writes need not follow it there.
          if (updated <= present) last = previous;
          return previous;
        },
      };
    },
  };
}

/** The last place that was given away at this time; -1: none. */
function placeAt({ updated, n }: Stamp, time: number): number {
  return updated === time ? n : -1;
}
