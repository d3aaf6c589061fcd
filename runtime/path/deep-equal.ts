import { Decimal } from '../fhir/decimal.js';
import { isObject } from './visit.js';

/**
 * Whether two values are equal as FHIRPath's `=` has it: the same tree whatever the order of properties; numbers by
 * value (`1.0 = 1`). https://hl7.org/fhirpath/N1/#equals
 */
export function deepEqual(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (isNumber(a) && isNumber(b)) return Number(a) === Number(b);
  if (!isObject(a) || !isObject(b)) return false;
  if (Array.isArray(a) !== Array.isArray(b)) return false;
  const names = Object.keys(a);
  if (names.length !== Object.keys(b).length) return false;
  return names.every((name) => Object.hasOwn(b, name) && deepEqual(a[name], b[name]));
}

function isNumber(value: unknown): value is number | Decimal {
  return typeof value === 'number' || value instanceof Decimal;
}
