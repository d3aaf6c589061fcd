import { isObject, type JsonObject, type JsonValue } from '../../fhir/resource.js';
import { readItems, type PatchItem } from '../fhirpath/fhirpath-items.js';
import type { PatchModel } from '../fhirpath/fhirpath-model.js';

/**
 * A value as a part of an operation tells it, without the part's name: as `value[x]` where a parameter can hold its
 * type, as a resource, or else as parts. The reverse of reading it. https://hl7.org/fhir/R5/fhirpatch.html#anonymous
 *
 * @param type name of its type
 */
export function writeValue({ value, twin }: PatchItem, type: string, model: PatchModel): JsonObject {
  if (model.primitive(type) !== undefined) {
    const key = valueKey(openType(type, model));
    return { ...(value === undefined ? {} : { [key]: value }), ...(twin === undefined ? {} : { [`_${key}`]: twin }) };
  }
  const object = isObject(value) ? value : {};
  if (model.isResource(type)) return { resource: object };
  return model.open.has(type) ? { [valueKey(type)]: object } : { part: writeParts(object, type, model) };
}

function writeParts(object: JsonObject, typeName: string, model: PatchModel): JsonValue[] {
  const type = model.type(typeName);
  if (type === undefined) throw new Error(`there is no type ${typeName}`);
  return [...type.keys].flatMap(([key, { element, type: own }]) =>
    readItems(object, key).map((item) => ({ name: element.name, ...writeValue(item, own, model) })),
  );
}

/** A type that a parameter can hold: XHTML goes as a string. */
function openType(type: string, model: PatchModel): string {
  return model.open.has(type) ? type : 'string';
}

/** The name of a part's value of a type: `valueString`. */
export function valueKey(type: string): string {
  return `value${type.charAt(0).toUpperCase()}${type.slice(1)}`;
}
