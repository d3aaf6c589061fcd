import { FhirError } from '../../fhir/errors.js';
import { isObject, type JsonValue } from '../../fhir/resource.js';
import { PATCH_TYPES } from '../../format/patch-types.js';
import { MAX_XML_ELEMENTS } from '../patch-limits.js';

/**
 * Checks the sizes of a resource and an XML Patch before either is converted, so that the patch cannot block the event
 * loop for long.
 *
 * @throws FhirError `patch-too-large`
 */
export function checkXmlPatchSize(resource: JsonValue, patch: string): void {
  if (hasMore(patch, MAX_XML_ELEMENTS)) {
    throw new FhirError('patch-too-large', `An XML Patch has at most ${MAX_XML_ELEMENTS} tags`);
  }
  if (hasMore(resource, MAX_XML_ELEMENTS)) {
    const text = `The resource has more than ${MAX_XML_ELEMENTS} elements, which is too many for XML Patch`;
    throw new FhirError('patch-too-large', `${text}: send a FHIRPath Patch, or a JSON Patch (${PATCH_TYPES.json})`);
  }
}

/** Whether a value has more than `most` nested values and XML tags. Stops at the first one too many. */
function hasMore(value: JsonValue, most: number): boolean {
  let remaining = most;
  const count = (each: JsonValue): void => {
    remaining--;
    if (typeof each === 'string') {
      for (let at = each.indexOf('<'); at >= 0 && remaining >= 0; at = each.indexOf('<', at + 1)) remaining--;
    } else if (Array.isArray(each) || isObject(each)) {
      for (const inner of Object.values(each)) {
        if (remaining < 0) return;
        count(inner);
      }
    }
  };
  count(value);
  return remaining < 0;
}
