import { isObject, objectsOf as objectsIn, type JsonObject, type JsonValue, type Resource } from '../fhir/resource.js';

/** An element and where it is. */
export interface Located {
  readonly element: JsonValue;
  /** FHIRPath. */
  readonly at: string;
}

/** The elements at a path of names below a resource, each occurrence by itself. What has another form than its type is passed over. */
export function elementsAt(resource: Resource, path: readonly string[]): readonly Located[] {
  let found: Located[] = [{ element: resource, at: resource.resourceType }];
  for (const name of path) {
    found = found.flatMap(({ element, at }) => {
      const value = isObject(element) ? element[name] : undefined;
      if (value === undefined) return [];
      if (!Array.isArray(value)) return [{ element: value, at: `${at}.${name}` }];
      return value.map((each, i) => ({ element: each, at: `${at}.${name}[${i}]` }));
    });
  }
  return found;
}

/** Whether a concept has a code of a system. */
export function hasCode(concept: JsonValue | undefined, system: string, code: string): boolean {
  return objectsOf(concept, 'coding').some((coding) => coding['system'] === system && coding['code'] === code);
}

/** The objects of the list that an element has by a name; none where it has no such list. */
export function objectsOf(value: JsonValue | undefined, name: string): readonly JsonObject[] {
  return isObject(value) ? objectsIn(value[name]) : [];
}

/** A text; undefined: there is none. */
export function textOf(value: JsonValue | undefined, name: string): string | undefined {
  const text = isObject(value) ? value[name] : undefined;
  return typeof text === 'string' ? text : undefined;
}
