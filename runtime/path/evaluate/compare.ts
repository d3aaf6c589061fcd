import { isTemporal, compareTimes, timeKey } from './times.js';
import { equalityKey } from '../equality-key.js';
import { canonicalUnit, toCanonical, type CanonicalUnit } from '../../fhir/ucum/canonical.js';
import { spend, spendReading, TEXT_IN_A_VALUE, type Environment } from './environment.js';
import { isJson, isNumber, type PathItem, type Items, type Json } from './item.js';
import { UCUM } from '../../fhir/ucum/system.js';

/**
 * Whether two collections are equal; undefined where one is empty, or where times of different precision leave it open.
 * http://hl7.org/fhirpath/N1/#equals
 */
export function equalItems(left: Items, right: Items, environment: Environment): boolean | undefined {
  if (left.length === 0 || right.length === 0) return undefined;
  if (left.length !== right.length) return false;
  let isOpen = false;
  for (let i = 0; i < left.length; i++) {
    const same = equalValues(left[i]!, right[i]!, environment);
    if (same === false) return false;
    if (same === undefined) isOpen = true;
  }
  return isOpen ? undefined : true;
}

/** Whether two values are equal: objects as trees, numbers by value, a boolean also with its text. */
function equalValues(left: PathItem, right: PathItem, environment: Environment): boolean | undefined {
  const [a, b] = [left.value, right.value];
  if (typeof a === 'string' && typeof b === 'string') {
    if (a.length === b.length) spendReading(environment, a);
    if (a === b) return true;
    return isTemporal(left.type) && isTemporal(right.type) ? equalTimes(a, b) : false;
  }
  if (isNumber(a) && isNumber(b)) return Number(a) === Number(b);
  if (typeof a === 'boolean' && typeof b === 'string') return String(a) === b;
  if (typeof a === 'string' && typeof b === 'boolean') return a === String(b);
  if (isQuantity(left) && isQuantity(right) && a !== b) {
    const order = compareQuantities(left, right);
    if (order !== undefined || left.type !== right.type) return order === undefined ? undefined : order === 0;
  }
  if (a === b || !isJson(a) || !isJson(b)) return a === b && a !== undefined;
  const [one, other] = keysOf([left, right], environment);
  return one === other;
}

function equalTimes(a: string, b: string): boolean | undefined {
  const order = compareTimes(a, b);
  return order === undefined ? undefined : order === 0;
}

/** A text that is the same for equal items: with it, equal ones are found among many. */
function itemKey({ value, beside, type }: PathItem): string {
  // Most are texts. No other key begins with a quotation mark. Those without a time of day are equal as texts.
  if (typeof value === 'string') return `"${value.includes(':') && isTemporal(type) ? timeKey(value) : value}`;
  return value === undefined ? `_${equalityKey(beside)}` : equalityKey(value);
}

/**
 * How the only values of two collections are ordered: below 0, 0 or above 0; undefined: there is no order between them, or
 * times of different precision leave it open. http://hl7.org/fhirpath/N1/#comparison
 */
export function compareItems(left: Items, right: Items): number | undefined {
  const [a, b] = [left[0], right[0]];
  if (a === undefined || b === undefined || left.length > 1 || right.length > 1) return undefined;
  if (isNumber(a.value) && isNumber(b.value)) return Number(a.value) - Number(b.value);
  if (typeof a.value === 'string' && typeof b.value === 'string') {
    if (isTemporal(a.type) || isTemporal(b.type)) return compareTimes(a.value, b.value);
    return a.value < b.value ? -1 : Number(a.value > b.value);
  }
  return compareQuantities(a, b);
}

/** Quantities whose units are known to be comparable; others have no order here. */
function compareQuantities({ value: a }: PathItem, { value: b }: PathItem): number | undefined {
  if (!isJson(a) || !isJson(b) || !isNumber(a['value']) || !isNumber(b['value'])) return undefined;
  if (unitOf(a) === unitOf(b)) return Number(a['value']) - Number(b['value']);
  const [one, other] = [canonicalUnitOf(a), canonicalUnitOf(b)];
  if (one === undefined || one.unit !== other?.unit) return undefined;
  return toCanonical(Number(a['value']), one) - toCanonical(Number(b['value']), other);
}

function unitOf({ system, code, unit }: Json): string {
  return JSON.stringify(code === undefined ? unit : [system, code]);
}

function canonicalUnitOf({ system, code }: Json): CanonicalUnit | undefined {
  return system === UCUM && typeof code === 'string' ? canonicalUnit(code) : undefined;
}

function isQuantity({ type }: PathItem): boolean {
  return type === 'Quantity' || type === 'System.Quantity';
}

/** Code units of the text of an object that cost as much as a value to make. */
const OBJECT_IN_A_VALUE = 8;

/** Texts of items, the same for equal ones. What they are made of counts: values are as large as all that is in them. */
export function keysOf(items: Items, environment: Environment): string[] {
  return items.map((item) => {
    const key = itemKey(item);
    spend(environment, key.length / (typeof item.value === 'string' ? TEXT_IN_A_VALUE : OBJECT_IN_A_VALUE));
    return key;
  });
}

/** The first of each that are equal. */
export function distinct(input: Items, environment: Environment): Items {
  const seen = new Set<string>();
  const keys = keysOf(input, environment);
  return input.filter((_item, i) => {
    const { size } = seen;
    return seen.add(keys[i]!).size > size;
  });
}
