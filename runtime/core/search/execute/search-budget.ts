import { FhirError } from '../../../fhir/errors.js';

/**
 * Does several searches for one request, all within one budget of time: past it what is under way stops with
 * `too-costly`.
 *
 * @param time milliseconds; absent: each search has what the store gives it
 * @param signal aborts as well
 */
export async function withinBudget<T>(
  time: number | undefined,
  signal: AbortSignal | undefined,
  work: (signal: AbortSignal | undefined) => Promise<T>,
): Promise<T> {
  if (time === undefined) return work(signal);
  const end = new AbortController();
  const timer = setTimeout(() => end.abort(new FhirError('too-costly')), time);
  try {
    return await work(signal === undefined ? end.signal : AbortSignal.any([signal, end.signal]));
  } finally {
    clearTimeout(timer);
  }
}
