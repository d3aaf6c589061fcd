/** How long a step may take, in milliseconds: a request that needs the same part of the store waits for its end. */
const TIME = { alone: 75, beside: 6 };

/** Things of the first step. */
const FIRST = 20;

/** The least of a step: a store that is far away takes as long for fewer. Things of which each takes very long go one by one. */
const LEAST = 8;

/** The most of a step beside requests: what comes next may be larger by far than what came before. */
const MOST_BESIDE = 50;

/** How much the last step says of the next one; the rest say those before. */
const WEIGHT = 0.3;

/** Chooses how many things (resources, lines) the next step of a job does at once. */
export interface StepSize {
  /** @param most whatever the time */
  next(most: number): number;
  /** Has a step done. Its time tells how large the next one may be. */
  measure<T>(count: number, step: () => Promise<T>): Promise<T>;
}

/**
 * Steps are as large as they can be done in some milliseconds, which are fewer while requests are in progress.
 *
 * @param isBusy whether requests are in progress
 */
export function createStepSize(isBusy: () => boolean): StepSize {
  let each = TIME.alone / FIRST;
  return {
    next(most) {
      const isBeside = isBusy();
      const inTime = Math.floor((isBeside ? TIME.beside : TIME.alone) / each);
      const least = each > TIME.alone ? 1 : LEAST;
      return Math.min(most, isBeside ? MOST_BESIDE : Infinity, Math.max(least, inTime));
    },
    async measure(count, step) {
      const begun = performance.now();
      const result = await step();
      if (count > 0) each += WEIGHT * ((performance.now() - begun) / count - each);
      return result;
    },
  };
}
