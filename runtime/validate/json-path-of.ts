import { isObject, type JsonValue } from '../fhir/resource.js';
import type { JsonPath } from '../fhir/errors.js';

/**
 * The place in JSON of an element that an expression such as `Observation.value.code` names, where choice elements have no type. Of
 * an element that is missing, the place of what should hold it.
 */
export function jsonPathOf(resource: JsonValue, expression: string): JsonPath {
  const path: (string | number)[] = [];
  let at: JsonValue | undefined = resource;
  for (const [step] of expression.slice(expression.search(/[.[]|$/)).matchAll(/[^.[\]]+/g)) {
    const name: string | number | undefined = Array.isArray(at)
      ? Number(step)
      : isObject(at)
        ? keyOf(at, step)
        : undefined;
    if (name === undefined) break;
    at = (at as Record<string | number, JsonValue>)[name];
    if (at === undefined) break;
    path.push(name);
  }
  return path;
}

/** `valueQuantity` for `value`; `_value` where the value has only extensions. */
function keyOf(object: Readonly<Record<string, unknown>>, name: string): string | undefined {
  if (Object.hasOwn(object, name)) return name;
  const isOfChoice = (key: string): boolean => key.startsWith(name) && /^[A-Z]/.test(key.slice(name.length));
  return Object.keys(object).find((key) => isOfChoice(key) || key === `_${name}`);
}
