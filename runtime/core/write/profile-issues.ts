import type { Resource } from '../../fhir/resource.js';
import { claimedProfiles } from '../../validate/profiles/claimed-profiles.js';
import type { ValidationOptions } from '../../validate/profiles/profile-deps.js';
import type { Fault } from '../../validate/fault.js';
import type { Services, ValidatingCall, ValidatingServices } from '../services.js';
import { requiredIssues } from './required-profiles.js';

/**
 * Validates a resource of right structure by the profiles that it claims, those that the setting `validation.profiles` requires of its
 * type, and others; what it contains by those that it claims itself. A write and `$validate` find the same.
 *
 * @param asked canonicals of the others
 */
export async function profileIssues(
  resource: Resource,
  asked: readonly string[],
  call: ValidatingCall,
  services: ValidatingServices & Pick<Services, 'validateByProfiles'>,
  how: ValidationOptions = {},
): Promise<readonly Fault[]> {
  const { profiles, validateByProfiles } = services;
  const claimed = claimedProfiles(resource);
  const demanded = profiles.required.get(resource.resourceType) ?? [];
  const required = demanded.filter((each) => !claimed.includes(each));
  const own = await validateByProfiles(resource, [...claimed, ...asked], call, services, {
    ...how,
    demanded: new Set([...asked, ...demanded]),
    isProfiled: required.length > 0,
  });
  if (required.length === 0) return own;
  const others = await requiredIssues(resource, required, call, services, how);
  // A profile may be asked for and required.
  return [...new Map([...own, ...others].map((issue) => [`${issue.severity} ${issue.text}`, issue])).values()];
}
