import { FhirError } from '../../../fhir/errors.js';

/** Creates the error for the client of a query that took longer than it may. */
export function tooCostly(): FhirError {
  return new FhirError('too-costly');
}

/** Whether that is what went wrong. */
export function isTooCostly(error: unknown): boolean {
  return error instanceof FhirError && error.code === 'too-costly';
}
