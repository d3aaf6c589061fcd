import { setImmediate, setTimeout as wait } from 'node:timers/promises';

/** Work between two looks at requests, in milliseconds. */
const SLICE = 6;

/** Longest pause that a job makes for requests at once, in milliseconds. */
const MAX_PAUSE = 50;

/**
 * Makes the pauses of one job. While no request is in progress, the job only yields to the event loop. While there are
 * some, it rests as long as it worked, so that it takes no more than half of the processor.
 *
 * @param isBusy whether requests are in progress
 */
export function createBreath(isBusy: () => boolean): () => Promise<void> | undefined {
  let began = performance.now();
  return () => {
    const worked = performance.now() - began;
    if (worked < SLICE) return undefined;
    const pause = isBusy() ? wait(Math.min(MAX_PAUSE, worked)) : setImmediate();
    return pause.then(() => void (began = performance.now()));
  };
}
