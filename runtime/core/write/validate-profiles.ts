import type { Resource } from '../../fhir/resource.js';
import { locateFaults } from '../../validate/locate-faults.js';
import { claimsAnyProfile, hasExtensions } from '../../validate/profiles/claimed-profiles.js';
import type { Call } from '../call.js';
import type { LookupServices, Services, ValidatingCall } from '../services.js';
import { parsedBodyOf } from './parsed-bodies.js';
import { profileIssues } from './profile-issues.js';
import { refuse } from './validate-resource.js';

/** The parts of a call that validation reads. */
export type ValidatedCall = Pick<Call, 'text'> & ValidatingCall;

/** The services needed to validate what is written by profiles. */
export type ProfileValidation = LookupServices &
  Pick<Services, 'extract' | 'validation' | 'profiles' | 'validateByProfiles'>;

/**
 * Validates a resource that is to be written by the profiles that it claims, those that what it contains claims, and those that the
 * setting `validation.profiles` requires; its extensions by their definitions; and its codes where the setting `validation.codes` says so.
 * Its structure and the rules of its type are right. Warnings refuse nothing; a claimed profile that is not known gives one. https://hl7.org/fhir/R5/profiling.html
 *
 * @throws FhirError with an issue for each fault
 */
export async function validateProfiles(
  resource: Resource,
  call: ValidatedCall,
  services: ProfileValidation,
): Promise<void> {
  const { validation, profiles } = services;
  if (validation !== 'full' || profiles === undefined) return;
  const isProfiled = profiles.required.has(resource.resourceType) || claimsAnyProfile(resource) || isExtended(resource);
  if (!isProfiled && profiles.refusedCodes === undefined) return;
  // A worker leaves only the head of a resource that is too large to be stored; that is refused later.
  if (parsedBodyOf(resource)?.content?.entryBytes === Infinity) return;
  const issues = isProfiled ? await profileIssues(resource, [], call, { ...services, profiles }) : [];
  const faults = [
    ...issues.filter(({ severity }) => severity === 'error'),
    ...((await profiles.refusedCodes?.(resource, call, services)) ?? []),
  ];
  refuse(locateFaults(faults, call.text));
}

/** Whether a resource has extensions. Of a large one, which a worker has parsed, the text is searched: that takes less time than the tree. */
function isExtended(resource: Resource): boolean {
  const text = parsedBodyOf(resource)?.content?.members;
  if (text === undefined) return hasExtensions(resource);
  return /"(?:extension|modifierExtension)":/.test(text) || hasExtensions(resource['meta']);
}
