import type { Resource } from '../../fhir/resource.js';
import type { ValidationOptions } from '../../validate/profiles/profile-deps.js';
import type { Fault } from '../../validate/fault.js';
import type { ProfileServices, Services, ValidatingCall, ValidatingServices } from '../services.js';

/**
 * Compares a resource with the profiles that the configuration requires, apart from those that it claims. They hold for all clients
 * alike: the server looks up their value sets with access of its own. Targets of references are looked up with that of the client: what it
 * may not read is as good as missing.
 */
export async function requiredIssues(
  resource: Resource,
  required: readonly string[],
  call: ValidatingCall,
  services: ValidatingServices & Pick<Services, 'validateByProfiles'>,
  how: ValidationOptions,
): Promise<readonly Fault[]> {
  const known: string[] = [];
  const missing: Fault[] = [];
  for (const canonical of required) {
    if ((await services.profiles.profile(canonical)) === undefined)
      missing.push(notKnown(canonical, resource, services.profiles));
    else known.push(canonical);
  }
  if (known.length === 0) return missing;
  const own = { ...how, isPartial: true, hasAllValueSets: true } as const;
  return [...missing, ...(await services.validateByProfiles(resource, known, call, services, own))];
}

/** Its definition was deleted or changed since the server started. */
function notKnown(canonical: string, { resourceType }: Resource, { whyUnusable }: ProfileServices): Fault {
  const why = whyUnusable?.(canonical);
  const state = why === undefined ? 'is not stored any more' : `cannot be used (${why})`;
  const text = `${resourceType}: the configuration requires the profile ${canonical}; its definition ${state}`;
  const at = { expression: resourceType, path: [] };
  return { code: 'profile-broken', severity: 'error', issue: 'not-found', rule: 'profile', text, ...at };
}
