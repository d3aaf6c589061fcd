import { FhirError } from '../fhir/errors.js';
import { withTimeout } from '../fhir/with-timeout.js';

/** Work on the same keys one after the other, within this process. */
export interface KeyQueue {
  /**
   * Runs `work` when no earlier call works on any of the keys any more.
   *
   * @param patience how long it waits for that, in milliseconds
   * @throws FhirError `store-busy` where that is not enough; the work was not begun then
   */
  run<T>(keys: readonly string[], patience: number, work: () => Promise<T>): Promise<T>;
}

/** An empty queue. It keeps nothing of keys on which no call works. */
export function openKeyQueue(): KeyQueue {
  const last = new Map<string, Promise<void>>();
  return {
    async run(keys, patience, work) {
      const distinct = [...new Set(keys)];
      const before = distinct.flatMap((key) => last.get(key) ?? []);
      let finish = (): void => {};
      const finished = new Promise<void>((resolve) => (finish = resolve));
      // At all keys at once, so that no call can be before us at one and behind us at another.
      for (const key of distinct) last.set(key, finished);
      const turn = Promise.all(before);
      try {
        if (before.length > 0) await withTimeout(patience, turn, tooMany);
        return await work();
      } finally {
        // A call that gave up still separates those before it from those behind it.
        void turn.then(() => {
          for (const key of distinct) if (last.get(key) === finished) last.delete(key);
          finish();
        });
      }
    },
  };
}

function tooMany(): FhirError {
  return new FhirError('store-busy', undefined, { headers: { 'Retry-After': '1' } });
}
