import { setImmediate, setTimeout as wait } from 'node:timers/promises';

/** Work between two looks at requests, in milliseconds. */
const SLICE = 6;

/** Pauses that a job makes for requests: so many times as long as it worked, and the longest, in milliseconds. */
const PAUSE = { times: 2, longest: 100 };

/**
 * Makes the pauses of one job. While no request is in progress, the job only yields to the event loop. While there are
 * some, it rests twice as long as it worked, so that it takes no more than a third of the processor.
 *
 * @param isBusy whether requests are in progress
 */
export function createBreath(isBusy: () => boolean): () => Promise<void> | undefined {
  let began = performance.now();
  return () => {
    const worked = performance.now() - began;
    if (worked < SLICE) return undefined;
    const pause = isBusy() ? wait(Math.min(PAUSE.longest, PAUSE.times * worked)) : setImmediate();
    return pause.then(() => void (began = performance.now()));
  };
}
