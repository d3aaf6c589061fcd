import { isObject, type JsonObject, type Resource } from '../../fhir/resource.js';
import { readItems, writeItems, type PatchItem } from './fhirpath-items.js';

/**
 * A resource without what has nothing left in it: FHIR has no empty objects and arrays. What is not empty stays the
 * very same object. https://hl7.org/fhir/R5/element.html#ele-1
 */
export function prune(resource: Resource): Resource {
  return { ...pruneObject(resource), resourceType: resource.resourceType };
}

/** Undefined where nothing is left. */
function pruneObject(object: JsonObject): JsonObject | undefined {
  let result = object;
  for (const [key, value] of Object.entries(object)) {
    if (isObject(value)) {
      const inner = pruneObject(value);
      if (inner === value) continue;
      result = { ...result, [key]: inner ?? null };
      if (inner === undefined) delete result[key];
    } else if (Array.isArray(value) && value.some(isObject)) {
      // Those of a primitive lie beside its values, and keep their places.
      const name = key.startsWith('_') ? key.slice(1) : key;
      const items = readItems(result, name);
      const kept = items.map(pruneItem);
      if (kept.some((item, i) => item !== items[i])) result = writeItems(result, name, kept.filter(isThere), true);
    }
  }
  return Object.keys(result).length === 0 ? undefined : result;
}

/** The very same item where there is nothing to take away. */
function pruneItem(item: PatchItem): PatchItem {
  const value = isObject(item.value) ? pruneObject(item.value) : item.value;
  const twin = item.twin && pruneObject(item.twin);
  if (value === item.value && twin === item.twin) return item;
  return { ...(value === undefined ? {} : { value }), ...(twin === undefined ? {} : { twin }) };
}

function isThere({ value, twin }: PatchItem): boolean {
  return value !== undefined || twin !== undefined;
}
