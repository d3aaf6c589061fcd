/** Things of one step while requests are in progress: of the first one, and of any. */
const BESIDE = { first: 10, least: 2, most: 50 };

/** How long such a step may take, in milliseconds: a request that needs the same part of the store waits for its end. */
const TIME = 6;

/** How much the last step says of the next one; the rest say those before. */
const WEIGHT = 0.3;

/** Chooses how many things (resources, lines) the next step of a job does at once. */
export interface StepSize {
  /** @param most where no request is in progress */
  next(most: number): number;
  /** Has a step done. Its time tells how large the next one may be. */
  measure<T>(count: number, step: () => Promise<T>): Promise<T>;
}

/**
 * Steps are as large as they may be while no request is in progress, and as large as they can be done in some milliseconds while there
 * are some.
 *
 * @param isBusy whether requests are in progress
 */
export function createStepSize(isBusy: () => boolean): StepSize {
  let each = TIME / BESIDE.first;
  return {
    next: (most) => {
      if (!isBusy()) return most;
      return Math.min(most, Math.max(BESIDE.least, Math.min(BESIDE.most, Math.floor(TIME / each))));
    },
    async measure(count, step) {
      const begun = performance.now();
      const result = await step();
      if (count > 0) each += WEIGHT * ((performance.now() - begun) / count - each);
      return result;
    },
  };
}
