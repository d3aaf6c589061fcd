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

/** Does some work for each, so many at a time, and gives what came of it in their order. The first failure ends it. */
export async function inParallel<T, R>(
  items: readonly T[],
  width: number,
  work: (item: T) => Promise<R>,
): Promise<R[]> {
  const results: R[] = new Array<R>(items.length);
  let next = 0;
  let failed = false;
  const worker = async (): Promise<void> => {
    while (next < items.length && !failed) {
      const at = next++;
      try {
        results[at] = await work(items[at] as T);
      } catch (error) {
        failed = true;
        throw error;
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(width, items.length) }, worker));
  return results;
}
