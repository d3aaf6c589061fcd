import { setImmediate, setTimeout as wait } from 'node:timers/promises';

/** Work between two looks at requests, in milliseconds: of a job alone, and beside requests. */
const SLICE = { alone: 6, beside: 3 };

/** Pauses that a job makes for requests: so many times as long as it worked, and the longest, in milliseconds. */
const PAUSE = { times: 3, longest: 200 };

/** Facts about the process that the pauses of a job depend on. */
export interface Surroundings {
  /** Whether requests are in progress. */
  readonly isBusy: () => boolean;
  /** Jobs that this process works on. */
  readonly jobs: () => number;
}

/**
 * Makes the pauses of one job. While no request is in progress, the job only yields to the event loop. While there are
 * some, it rests three times as long as it worked, and longer the more jobs there are: together they work a third of the time at most.
 */
export function createBreath({ isBusy, jobs }: Surroundings): () => Promise<void> | undefined {
  let began = performance.now();
  return () => {
    const worked = performance.now() - began;
    if (worked < SLICE.beside) return undefined;
    const isBeside = isBusy();
    if (!isBeside && worked < SLICE.alone) return undefined;
    const pause = isBeside ? wait(Math.min(PAUSE.longest, PAUSE.times * jobs() * worked)) : setImmediate();
    return pause.then(() => void (began = performance.now()));
  };
}
