import { Decimal } from './decimal.js';

/** A value as the JSON reader gives it: plain, but for numbers whose text a double would lose. */
export type JsonValue = null | boolean | number | string | Decimal | JsonValue[] | JsonObject;

/** An object of such values, its members own properties. */
export interface JsonObject {
  [name: string]: JsonValue;
}

/** A resource as JSON: an object that names its type. https://hl7.org/fhir/R5/resource.html */
export interface Resource extends JsonObject {
  resourceType: string;
}

/** Whether a value is a JSON object: neither an array, nor a number that kept its text. */
export function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Decimal);
}

/** The items of a list; none where it is no list. */
export function listOf(value: JsonValue | undefined): readonly JsonValue[] {
  return Array.isArray(value) ? value : [];
}

/** The objects of a list; none where it is no list. */
export function objectsOf(value: JsonValue | undefined): readonly JsonObject[] {
  return listOf(value).filter(isObject);
}

/** The texts of a list; none where it is no list. */
export function textsOf(value: JsonValue | undefined): readonly string[] {
  return listOf(value).filter((each) => typeof each === 'string');
}
