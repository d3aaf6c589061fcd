import { isSubsetted, SUBSETTED } from '../fhir/meta.js';
import { isObject, type JsonObject, type Resource } from '../fhir/resource.js';

/** The resource with the tag SUBSETTED in its meta, once; the given one stays as it is. */
export function markSubsetted(resource: Resource): Resource {
  const { resourceType, id, meta: before, ...rest } = resource;
  const meta: JsonObject = isObject(before) ? before : {};
  const tags = Array.isArray(meta['tag']) ? meta['tag'] : [];
  if (tags.some((tag) => isObject(tag) && isSubsetted(tag))) {
    return resource;
  }
  const marked = { ...meta, tag: [...tags, { ...SUBSETTED }] };
  return { resourceType, ...(id === undefined ? {} : { id }), meta: marked, ...rest } as Resource;
}
