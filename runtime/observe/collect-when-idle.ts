import { performance } from 'node:perf_hooks';
import { getHeapStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

import { repeat } from './repeat.js';

/** How often it looks, in milliseconds. */
const PAUSE = 1000;

/** A thread that is busy for less of the time than this is idle: a collection disturbs no request. */
const IDLE = 0.02;

/** Bytes that the heap has to have grown by to be worth a collection, which takes some 50 ms. */
const WORTH = 16 * 1024 * 1024;

/**
 * Looks without work after which another collection follows the one that took the garbage: V8 makes the young generation,
 * of up to 32 MB, small in one before which next to nothing was allocated for five seconds.
 */
const CALM = 6;

/**
 * Gives memory back once the server is idle. V8 collects when something is allocated: after bodies of many megabytes
 * a server without requests would hold hundreds of megabytes of garbage for good.
 *
 * @returns ends it
 */
export function collectWhenIdle(): () => void {
  let settled = 0;
  let calm = 0;
  let isDone = false;
  let before = performance.eventLoopUtilization();
  const look = (): Promise<void> => {
    const { utilization } = performance.eventLoopUtilization(before);
    calm = utilization < IDLE ? calm + 1 : 0;
    const isWorth = heldBytes() > settled + WORTH;
    if (calm > 0 && (isWorth || (!isDone && calm >= CALM))) {
      collect();
      settled = heldBytes();
      isDone = !isWorth;
      calm = 0;
    }
    // A collection is no work.
    before = performance.eventLoopUtilization();
    return Promise.resolve();
  };
  return repeat(look, { first: PAUSE, pause: PAUSE }, () => {});
}

function heldBytes(): number {
  const { total_heap_size, external_memory } = getHeapStatistics();
  return total_heap_size + external_memory;
}

/** Node offers this function only by a flag, which can be set at any time but is seen only by contexts made later. */
function collect(): void {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
}
