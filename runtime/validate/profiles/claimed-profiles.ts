import { isObject, type JsonValue, type Resource } from '../../fhir/resource.js';

/** The profiles that a resource claims to conform to. https://hl7.org/fhir/R5/resource-definitions.html#Meta.profile */
export function claimedProfiles({ meta }: Resource): readonly string[] {
  const claimed = isObject(meta) ? meta['profile'] : undefined;
  return Array.isArray(claimed) ? claimed.filter((each) => typeof each === 'string') : [];
}

/** Whether the resource, one that it contains, or an entry of the Bundle that it is, claims a profile. */
export function claimsAnyProfile(value: JsonValue | undefined): boolean {
  if (!isObject(value)) return false;
  const { resourceType, meta, contained, entry } = value;
  if (isObject(meta) && meta['profile'] !== undefined) return true;
  if (Array.isArray(contained) && contained.some(claimsAnyProfile)) return true;
  if (resourceType !== 'Bundle' || !Array.isArray(entry)) return false;
  return entry.some((each) => isObject(each) && claimsAnyProfile(each['resource']));
}

/** Whether a value, or anything in it, has extensions. */
export function hasExtensions(value: JsonValue | undefined): boolean {
  if (Array.isArray(value)) return value.some(hasExtensions);
  if (!isObject(value)) return false;
  for (const key in value) {
    if (key === 'extension' || key === 'modifierExtension') return true;
    const child = value[key];
    if (typeof child === 'object' && hasExtensions(child)) return true;
  }
  return false;
}
