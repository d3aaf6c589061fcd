import type { Resource } from '../../fhir/resource.js';
import { SEARCH_PARAMETER } from '../../indexing/parameters/stored-parameter.js';
import { locateFaults } from '../../validate/locate-faults.js';
import type { Call } from '../call.js';
import type { Services } from '../services.js';
import { span } from '../../observe/trace/spans.js';
import { parsedBodyOf } from './parsed-bodies.js';
import { validateProfiles, type ProfileValidation, type ValidatedCall } from './validate-profiles.js';
import { refuse, validateResource } from './validate-resource.js';

/** The services needed to validate structure and rules: all that a worker thread has. */
export type ContentValidation = Pick<Services, 'validate' | 'rules' | 'validation'>;

/** The services needed to validate what is written. */
export type WriteValidation = ContentValidation & ProfileValidation;

/**
 * Validates a resource that is to be written, as far as the setting `validation` says. Warnings refuse nothing.
 * https://hl7.org/fhir/R5/validation.html
 *
 * @throws FhirError with an issue for each fault: 400 for faults of structure, otherwise 422 for broken rules and profiles
 */
export async function validateWritten(
  resource: Resource,
  call: ValidatedCall,
  services: WriteValidation,
): Promise<void> {
  await span('validate', { type: resource.resourceType }, async () => {
    validateContent(resource, call, services);
    await validateProfiles(resource, call, services);
  });
}

/** Validates a resource like `validateWritten`, but without profiles. @throws FhirError */
export function validateContent(resource: Resource, call: Pick<Call, 'text'>, services: ContentValidation): void {
  // A SearchParameter changes how the server searches, so its structure is always checked.
  const isParameter = resource.resourceType === SEARCH_PARAMETER;
  if (services.validation === 'off' && !isParameter) return;
  validateResource(resource, call, services);
  // A worker that parsed the resource has checked its rules, too.
  if (services.validation !== 'full' || parsedBodyOf(resource) !== undefined) return;
  refuse(locateFaults(services.rules.errors(resource), call.text));
}
