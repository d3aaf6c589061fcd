import { yieldToEventLoop } from '../../fhir/yield-to-event-loop.js';

/**
 * Runs work for each item, `width` at a time, with turns for others between them. Resolves to the results in order. After a failure no further
 * work is started.
 */
export async function inParallel<T, R>(
  items: readonly T[],
  width: number,
  work: (item: T) => Promise<R>,
): Promise<R[]> {
  const results: R[] = new Array<R>(items.length);
  let next = 0;
  let failed = false;
  const yieldIfDue = yieldToEventLoop();
  const worker = async (): Promise<void> => {
    while (next < items.length && !failed) {
      const at = next++;
      try {
        results[at] = await work(items[at] as T);
        await yieldIfDue();
      } catch (error) {
        failed = true;
        throw error;
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(width, items.length) }, worker));
  return results;
}
