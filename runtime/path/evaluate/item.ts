import { Decimal } from '../../fhir/decimal.js';
import { UCUM } from '../../fhir/ucum/system.js';

/** A JSON object. */
export type Json = Readonly<Record<string, unknown>>;

/** A value that an expression is at: an element of a resource, or a value that the expression made. */
export class PathItem {
  constructor(
    /** JSON value; undefined: a primitive that has only an id or extensions. */
    readonly value: unknown,
    /** FHIR type, or `System.…` for what the expression made. */
    readonly type: string,
    /** Of a primitive: its id and extensions, the object under `_name`. */
    readonly beside?: Json,
  ) {}
}

/** Result of an expression: its items in order. http://hl7.org/fhirpath/N1/#collections */
export type Items = readonly PathItem[];

/** Nothing. */
export const NONE: Items = [];
const TRUE: Items = [new PathItem(true, 'System.Boolean')];
const FALSE: Items = [new PathItem(false, 'System.Boolean')];

/** A boolean as a collection; undefined is the empty one. */
export function ofBoolean(value: boolean | undefined): Items {
  return value === undefined ? NONE : value ? TRUE : FALSE;
}

/** A text as a collection; undefined is the empty one. */
export function ofText(value: string | undefined): Items {
  return value === undefined ? NONE : [new PathItem(value, 'System.String')];
}

/** A number as a collection; undefined is the empty one, and so is what is too large for a number. */
export function ofNumber(value: number | undefined): Items {
  if (value === undefined || !Number.isFinite(value)) return NONE;
  return [new PathItem(value, Number.isInteger(value) ? 'System.Integer' : 'System.Decimal')];
}

/** An amount of a unit, by its code in UCUM. */
export function ofQuantity(number: string, code: string): PathItem {
  return new PathItem({ value: Number(number), unit: code, system: UCUM, code }, 'System.Quantity');
}

/**
 * Converts a collection to a condition. A single boolean is itself, any other single value is true, and an empty
 * collection is undefined. Several values count as true, as in the reference implementation of HL7.
 * http://hl7.org/fhirpath/N1/#singleton-evaluation-of-collections
 */
export function toBoolean(items: Items): boolean | undefined {
  const [first] = items;
  if (first === undefined) return undefined;
  return items.length > 1 || typeof first.value !== 'boolean' ? true : first.value;
}

/** The text of the only item; undefined: there is none, there are several, or it is no text. */
export function toText(items: Items): string | undefined {
  const [only] = items;
  return items.length === 1 && typeof only?.value === 'string' ? only.value : undefined;
}

/** The number of the only item; undefined as for `toText`. */
export function toNumber(items: Items): number | undefined {
  const [only] = items;
  return items.length === 1 && isNumber(only?.value) ? Number(only?.value) : undefined;
}

/** Whether a value is a JSON number. */
export function isNumber(value: unknown): boolean {
  return typeof value === 'number' || value instanceof Decimal;
}

/** Whether a value is a JSON object. */
export function isJson(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Decimal);
}
