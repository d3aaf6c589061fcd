import { setTimeout as sleep } from 'node:timers/promises';

import { FhirError } from '../../fhir/errors.js';

/** How long a store may be busy or away: a new primary is found by then, and what a dead process locked is free. */
const PATIENCE = 120_000;
const PAUSE = 1000;

/**
 * Does something that may be done twice, again as long as the store says that it cannot serve at the moment.
 *
 * @throws what the action threw, when patience is over or another try would not help; the signal's reason
 */
export async function persist<T>(action: () => Promise<T>, signal: AbortSignal, patience = PATIENCE): Promise<T> {
  const start = performance.now();
  for (;;) {
    try {
      return await action();
    } catch (error) {
      const mayPass = error instanceof FhirError && (error.code === 'store-busy' || error.code === 'store-unavailable');
      if (!mayPass || performance.now() - start > patience) throw error;
      await sleep(PAUSE, undefined, { signal }).catch(() => signal.throwIfAborted());
    }
  }
}
