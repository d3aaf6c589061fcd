import { setImmediate } from 'node:timers/promises';
import { setImmediate as whenOthersHadATurn } from 'node:timers';

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

/**
 * To be awaited before work that takes no turn of its own, such as a read of an embedded database: a request that awaits many of them stays in
 * one turn of the event loop. Lets others have theirs where the present turn goes on for long, all its work counted.
 */
export function yieldInLongTurn(): Yield {
  let began: number | undefined;
  return () => {
    const now = performance.now();
    if (began === undefined) {
      began = now;
      whenOthersHadATurn(() => (began = undefined));
    }
    return now - began < TURN ? undefined : setImmediate();
  };
}
