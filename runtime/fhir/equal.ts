import { Decimal } from './decimal.js';
import { isObject, type JsonObject, type JsonValue } from './resource.js';

/**
 * Whether two values are the same JSON tree: the order of properties does not count, that of arrays and the text of
 * numbers do (`1.0` is not `1`).
 */
export function equalJson(a: JsonValue, b: JsonValue): boolean {
  if (a === b) return true;
  if (a instanceof Decimal) return b instanceof Decimal && a.text === b.text;
  if (Array.isArray(a)) {
    return Array.isArray(b) && a.length === b.length && a.every((value, i) => equalJson(value, b[i] ?? null));
  }
  return isObject(a) && isObject(b) && equalObjects(a, b);
}

function equalObjects(a: JsonObject, b: JsonObject): boolean {
  const names = Object.keys(a);
  return (
    names.length === Object.keys(b).length &&
    names.every((name) => Object.hasOwn(b, name) && equalJson(a[name] ?? null, b[name] ?? null))
  );
}
