import { isObject, type JsonObject, type Resource } from '../fhir/resource.js';

/** Says that a resource is not complete, so that nobody writes it back. https://hl7.org/fhir/R5/search.html#summary */
export const SUBSETTED = {
  system: 'http://terminology.hl7.org/CodeSystem/v3-ObservationValue',
  code: 'SUBSETTED',
  display: 'subsetted',
} as const;

/** The resource with the tag SUBSETTED in its meta, once; the given one stays as it is. */
export function markSubsetted(resource: Resource): Resource {
  const { resourceType, id, meta: before, ...rest } = resource;
  const meta: JsonObject = isObject(before) ? before : {};
  const tags = Array.isArray(meta['tag']) ? meta['tag'] : [];
  if (tags.some((tag) => isObject(tag) && tag['system'] === SUBSETTED.system && tag['code'] === SUBSETTED.code)) {
    return resource;
  }
  const marked = { ...meta, tag: [...tags, { ...SUBSETTED }] };
  return { resourceType, ...(id === undefined ? {} : { id }), meta: marked, ...rest } as Resource;
}
