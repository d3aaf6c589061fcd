import { FhirError } from './errors.js';
import { yieldToEventLoop, type Yield } from './yield-to-event-loop.js';

/** Keeps pace (`keepPace`), and ends the work when no client waits for it any more. @param signal aborts then */
export function yieldUntil(signal: AbortSignal | undefined): Yield {
  const pace = yieldToEventLoop();
  return () => {
    checkAborted(signal);
    return pace();
  };
}

/** @throws FhirError where no client waits any more: why it aborted, if that is one, or `store-busy` */
export function checkAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted !== true) return;
  const reason: unknown = signal.reason;
  throw reason instanceof FhirError ? reason : new FhirError('store-busy', 'No client waits for the answer any more');
}
