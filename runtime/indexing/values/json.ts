import { Decimal } from '../../fhir/decimal.js';

type Json = Readonly<Record<string, unknown>>;

/** The value as an object whose properties can be read; undefined for everything else, arrays included. */
export function objectOf(value: unknown): Json | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : undefined;
}

/** The value if it is text with something in it. */
export function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** The objects of a property that holds one or an array of them. */
export function objectsOf(value: unknown): readonly Json[] {
  if (!Array.isArray(value)) {
    const one = objectOf(value);
    return one === undefined ? [] : [one];
  }
  return value.filter((item) => objectOf(item) !== undefined) as Json[];
}

/**
 * The number that a JSON number, a Decimal or the text of an integer64 stands for; undefined for what is none or
 * exceeds a double. https://hl7.org/fhir/R5/datatypes.html#integer64
 */
export function numberOf(value: unknown): number | undefined {
  let number: number;
  if (typeof value === 'number') number = value;
  else if (value instanceof Decimal) number = Number(value.text);
  else if (typeof value === 'string' && /^-?\d+$/.test(value)) number = Number(value);
  else return undefined;
  return Number.isFinite(number) ? number : undefined;
}
