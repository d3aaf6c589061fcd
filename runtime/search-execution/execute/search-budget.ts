import { FhirError } from '../../fhir/errors.js';
import { passQueryBudget } from '../../store/query-budget.js';

/**
 * Runs several searches for one request within one time limit. When it is over, the search that is under way fails with
 * `too-costly`.
 *
 * @param time milliseconds; absent: each search has the time limit of the store
 * @param signal also ends the work
 */
export async function withinBudget<T>(
  time: number | undefined,
  signal: AbortSignal | undefined,
  work: (signal: AbortSignal | undefined) => Promise<T>,
): Promise<T> {
  if (time === undefined) return work(signal);
  const end = new AbortController();
  passQueryBudget(signal, end.signal);
  const timer = setTimeout(() => end.abort(new FhirError('too-costly')), time);
  // Not `AbortSignal.any`: the signal may be that of a connection, which would keep one for each of its requests.
  const onAbort = (): void => end.abort(signal?.reason);
  if (signal?.aborted === true) onAbort();
  signal?.addEventListener('abort', onAbort, { once: true });
  try {
    return await work(end.signal);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', onAbort);
  }
}
