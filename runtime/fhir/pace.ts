import { setImmediate } from 'node:timers/promises';

/** How long work may go on without letting others have a turn, in milliseconds. */
const TURN = 8;

/** To be awaited between pieces of long work: lets others have a turn when this one has taken long enough. */
export type Pace = () => Promise<void> | undefined;

/** Begins to count now. */
export function keepPace(): Pace {
  let began = performance.now();
  return () => {
    if (performance.now() - began < TURN) return undefined;
    return setImmediate().then(() => {
      began = performance.now();
    });
  };
}
