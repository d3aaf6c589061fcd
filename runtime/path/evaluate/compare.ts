import { isTemporal, compareTimes } from './times.js';
import { equalityKey } from '../equality-key.js';
import { isJson, isNumber, type PathItem, type Items } from './item.js';

/**
 * Whether two collections are equal; undefined where one is empty, or where times of different precision leave it open.
 * http://hl7.org/fhirpath/N1/#equals
 */
export function equalItems(left: Items, right: Items): boolean | undefined {
  if (left.length === 0 || right.length === 0) return undefined;
  if (left.length !== right.length) return false;
  let isOpen = false;
  for (let i = 0; i < left.length; i++) {
    const same = equalValues(left[i]!, right[i]!);
    if (same === false) return false;
    if (same === undefined) isOpen = true;
  }
  return isOpen ? undefined : true;
}

/** Whether two values are equal: objects as trees, numbers by value, a boolean also with its text. */
export function equalValues(left: PathItem, right: PathItem): boolean | undefined {
  const [a, b] = [left.value, right.value];
  if (typeof a === 'string' && typeof b === 'string') {
    if (a === b) return true;
    return isTemporal(left.type) && isTemporal(right.type) ? equalTimes(a, b) : false;
  }
  if (isNumber(a) && isNumber(b)) return Number(a) === Number(b);
  if (typeof a === 'boolean' && typeof b === 'string') return String(a) === b;
  if (typeof a === 'string' && typeof b === 'boolean') return a === String(b);
  if (left.type === 'System.Quantity' || right.type === 'System.Quantity') {
    const order = compareQuantities(left, right);
    return order === undefined ? undefined : order === 0;
  }
  if (isJson(a) && isJson(b)) return a === b || equalityKey(a) === equalityKey(b);
  return a === b && a !== undefined;
}

function equalTimes(a: string, b: string): boolean | undefined {
  const order = compareTimes(a, b);
  return order === undefined ? undefined : order === 0;
}

/** A text that is the same for equal items: with it, equal ones are found among many. */
export function itemKey({ value, beside }: PathItem): string {
  // Most are texts. No other key begins with a quotation mark.
  if (typeof value === 'string') return `"${value}`;
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

/** Quantities of one unit; others have no order here. The unit of a literal is a code. */
function compareQuantities({ value: a, type }: PathItem, { value: b, type: other }: PathItem): number | undefined {
  if (!isJson(a) || !isJson(b) || !isNumber(a['value']) || !isNumber(b['value'])) return undefined;
  const isSame = a['code'] === b['code'] && a['system'] === b['system'];
  const isLiteral = type === 'System.Quantity' || other === 'System.Quantity';
  if (!isLiteral && a['unit'] !== b['unit']) return undefined;
  return isSame ? Number(a['value']) - Number(b['value']) : undefined;
}

/** The first of each that are equal. */
export function distinct(input: Items): Items {
  const seen = new Set<string>();
  return input.filter((item) => {
    const { size } = seen;
    return seen.add(itemKey(item)).size > size;
  });
}
