import { isObject, type JsonObject, type JsonValue, listOf } from '../../fhir/resource.js';
import type { FhirTypes } from './fhir-types.js';

/** One value of an element. */
export interface ElementValue {
  /** Undefined: there are only id and extensions. */
  readonly value: JsonValue | undefined;
  /** Id and extensions of a primitive. */
  readonly beside: JsonValue | undefined;
  /** Its type; of a backbone element the path; of a resource the type of that. */
  readonly type: string;
  /** Position in a list. */
  readonly at?: number;
}

const NONE: readonly ElementValue[] = [];

/** The values of an element below a value. A primitive has `value`, `id` and `extension`. */
export function childrenOf(item: ElementValue, name: string, types: FhirTypes): readonly ElementValue[] {
  const isPrimitive = types.isPrimitive(item.type);
  if (isPrimitive && name === 'value') return item.value === undefined ? NONE : [{ ...item, beside: undefined }];
  const holder = isPrimitive ? item.beside : item.value;
  return isObject(holder) ? membersOf(holder, item.type, name, types) : NONE;
}

function membersOf(holder: JsonObject, type: string, name: string, types: FhirTypes): readonly ElementValue[] {
  let found: ElementValue[] | undefined;
  for (const { key, type: form } of types.forms(type, name)) {
    const value = holder[key];
    const beside = types.isPrimitive(form) ? holder[`_${key}`] : undefined;
    if (value === undefined && beside === undefined) continue;
    found ??= [];
    if (!Array.isArray(value) && !Array.isArray(beside)) found.push(itemOf(value, beside, form, types));
    else addList(found, listOf(value), listOf(beside), form, types);
  }
  return found ?? NONE;
}

function addList(
  found: ElementValue[],
  values: readonly JsonValue[],
  besides: readonly JsonValue[],
  form: string,
  types: FhirTypes,
): void {
  const length = Math.max(values.length, besides.length);
  for (let at = 0; at < length; at++) {
    found.push({ ...itemOf(values[at] ?? undefined, besides[at] ?? undefined, form, types), at });
  }
}

function itemOf(
  value: JsonValue | undefined,
  beside: JsonValue | undefined,
  type: string,
  types: FhirTypes,
): ElementValue {
  if (isObject(value) && typeof value['resourceType'] === 'string' && types.kindOf(type) === 'resource') {
    return { value, beside, type: value['resourceType'] };
  }
  return { value, beside, type };
}
