import { FhirError } from '../../fhir/errors.js';
import { isObject, type JsonValue } from '../../fhir/resource.js';
import { PATCH_TYPES } from '../../format/patch-types.js';
import { MAX_XML_ELEMENTS } from '../../path/patch/patch-limits.js';

/**
 * Sees, before anything is made XML or read as such, that it will not keep others waiting.
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

/** Whether a value has more values and tags of XML in it. Looks no further than it has to. */
function hasMore(value: JsonValue, most: number): boolean {
  let left = most;
  const count = (each: JsonValue): void => {
    left--;
    if (typeof each === 'string') {
      for (let at = each.indexOf('<'); at >= 0 && left >= 0; at = each.indexOf('<', at + 1)) left--;
    } else if (Array.isArray(each) || isObject(each)) {
      for (const inner of Object.values(each)) {
        if (left < 0) return;
        count(inner);
      }
    }
  };
  count(value);
  return left < 0;
}
