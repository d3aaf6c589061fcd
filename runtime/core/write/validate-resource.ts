import { FhirError, type Issue } from '../../fhir/errors.js';
import type { Resource } from '../../fhir/resource.js';
import { SEARCH_PARAMETER } from '../../indexing/parameters/stored-parameter.js';
import { locateFaults } from '../../validate/locate-faults.js';
import type { Call } from '../call.js';
import { parsedBodyOf } from './parsed-bodies.js';
import type { Services } from '../services.js';

/**
 * Validates a resource, unless a worker did so already or the server has no validator.
 *
 * @param text the JSON text of the resource: positions in it go into `diagnostics`
 * @throws FhirError with an issue for each fault
 */
export function validateResource(
  resource: Resource,
  { text }: Pick<Call, 'text'>,
  { validate }: Pick<Services, 'validate'>,
): void {
  // Worker threads do not know the search parameters in effect, so a SearchParameter is always validated here.
  const known = resource.resourceType === SEARCH_PARAMETER ? undefined : parsedBodyOf(resource);
  refuse(known?.faults ?? locateFaults(validate(resource), text));
}

/** @throws FhirError with these issues, where there are any */
export function refuse([first, ...others]: readonly Issue[]): void {
  if (first !== undefined) throw FhirError.of([first, ...others]);
}
