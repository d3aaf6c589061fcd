import { FhirError } from './errors.js';

/** Does some work, and returns the FhirError that it throws. */
export function attempt<T>(work: () => T): T | FhirError {
  try {
    return work();
  } catch (error) {
    if (error instanceof FhirError) return error;
    throw error;
  }
}

/** Does some work, and ignores a FhirError that it throws: undefined. */
export function attemptOrIgnore<T>(work: () => T): T | undefined {
  const done = attempt(work);
  return done instanceof FhirError ? undefined : done;
}
