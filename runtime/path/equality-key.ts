import { Decimal } from '../fhir/decimal.js';
import { isObject } from './visit.js';

/**
 * A text that two values share just if they are equal as FHIRPath's `=` has it: the same tree whatever the order of
 * properties; numbers by value (`1.0 = 1`). With it equal ones are found among many without comparing each with each.
 * https://hl7.org/fhirpath/N1/#equals
 */
export function equalityKey(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value);
  if (typeof value === 'number' || value instanceof Decimal) return String(Number(value));
  if (Array.isArray(value)) return `[${value.map(equalityKey).join()}]`;
  if (!isObject(value)) return String(value);
  const members = Object.keys(value).sort();
  return `{${members.map((name) => `${JSON.stringify(name)}:${equalityKey(value[name])}`).join()}}`;
}
