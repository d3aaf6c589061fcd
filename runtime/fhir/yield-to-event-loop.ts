import { setImmediate } from 'node:timers/promises';

/** How long work may go on without letting others have a turn, in milliseconds. */
const TURN = 8;

/** To be awaited between pieces of long work: lets others have a turn when this one has taken long enough. */
export type Yield = () => Promise<void> | undefined;

/** Begins to count now. Of several that go by one pace and wait, each has a turn of its own, and others one in between. */
export function yieldToEventLoop(): Yield {
  let began = performance.now();
  let last: Promise<void> = Promise.resolve();
  return () => {
    if (performance.now() - began < TURN) return undefined;
    last = last
      .then(() => setImmediate())
      .then(() => {
        began = performance.now();
      });
    return last;
  };
}
