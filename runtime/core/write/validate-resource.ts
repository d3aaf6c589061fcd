import { FhirError, type Issue } from '../../fhir/errors.js';
import type { Resource } from '../../fhir/resource.js';
import { SEARCH_PARAMETER } from '../../search/parameters/stored-parameter.js';
import { locateFaults, type LocatedFault } from '../../validate/locate-faults.js';
import type { Position } from '../../validate/locate-paths.js';
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
  const [first, ...others] = (known?.faults ?? faultsOf(resource, text, validate)).map(toIssue);
  if (first !== undefined) throw FhirError.of([first, ...others]);
}

function faultsOf(resource: Resource, text: Call['text'], validate: Services['validate']): readonly LocatedFault[] {
  const faults = validate(resource);
  return faults.length === 0 ? faults : locateFaults(faults, text?.());
}

/** Where a fault is in a text, in words. */
export function diagnosticsOf({ line, column }: Position): string {
  return `line ${line}, column ${column}`;
}

/** A fault as an issue of an error. */
export function toIssue({ code, issue, text, expression, position, key }: LocatedFault): Issue {
  const place = position && { diagnostics: diagnosticsOf(position) };
  return { code, issue, text, expression, ...(key !== undefined && { rule: key }), ...place };
}
