import { Decimal } from '../../fhir/decimal.js';
import { isObject, type JsonValue } from '../../fhir/resource.js';

/** A text that two values have in common just when they are the same JSON tree. */
export function canonicalText(value: JsonValue): string {
  if (value instanceof Decimal) return value.text;
  if (Array.isArray(value)) return `[${value.map(canonicalText).join()}]`;
  if (!isObject(value)) return JSON.stringify(value);
  const members = Object.keys(value).sort();
  return `{${members.map((name) => `${JSON.stringify(name)}:${canonicalText(value[name] ?? null)}`).join()}}`;
}
