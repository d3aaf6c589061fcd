import { FhirError } from '../fhir/errors.js';
import type { Resource } from '../fhir/resource.js';
import type { Services } from './services.js';

/**
 * Has a resource validated, where the server can.
 *
 * @throws FhirError with all that is wrong with it
 */
export function validateResource(resource: Resource, { validate }: Pick<Services, 'validate'>): void {
  const [first, ...others] = validate?.(resource) ?? [];
  if (first !== undefined) throw FhirError.of([first, ...others]);
}
