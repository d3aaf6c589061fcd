import { Decimal } from '../../fhir/decimal.js';
import { isObject, type JsonValue } from '../../fhir/resource.js';

/**
 * Whether two values are equal as a `test` has it: of one type; numbers by value, however they are written (`1.0` is
 * `1`, exactly and not by the nearest double); objects whatever the order of their members.
 * https://www.rfc-editor.org/rfc/rfc6902#section-4.6
 */
export function testEqual(a: JsonValue, b: JsonValue): boolean {
  if (a === b) return true;
  if (isNumber(a)) return isNumber(b) && scientific(a) === scientific(b);
  if (Array.isArray(a))
    return Array.isArray(b) && a.length === b.length && a.every((item, i) => testEqual(item, b[i]!));
  if (!isObject(a) || !isObject(b)) return false;
  const names = Object.keys(a);
  return (
    names.length === Object.keys(b).length &&
    names.every((name) => Object.hasOwn(b, name) && testEqual(a[name]!, b[name]!))
  );
}

function isNumber(value: JsonValue): value is number | Decimal {
  return typeof value === 'number' || value instanceof Decimal;
}

/** Exponents below have to fit a double exactly. */
const MAX_EXPONENT_DIGITS = 15;

/** A number as its digits without zeros at either end, and the exponent of the last: one text for each value. */
function scientific(value: number | Decimal): string {
  const [, sign = '', whole = '', fraction = '', exponent = '0'] =
    /^(-?)([0-9]+)(?:\.([0-9]+))?(?:[eE]\+?(-?[0-9]+))?$/.exec(String(value)) ?? [];
  const digits = (whole + fraction).replace(/^0+/, '');
  const significant = withoutZerosAtEnd(digits);
  if (significant === '') return '0';
  const shift = digits.length - significant.length - fraction.length;
  // Beyond all use, and dear to add up: equal there is what has the same exponent as it is written.
  const isHuge = exponent.length > MAX_EXPONENT_DIGITS && exponent.replace(/^-?0+/, '').length > MAX_EXPONENT_DIGITS;
  return `${sign}${significant}e${isHuge ? `${shift},${exponent}` : Number(exponent) + shift}`;
}

/** By hand, because `/0+$/` looks at each of many zeros in the middle again and again. */
function withoutZerosAtEnd(digits: string): string {
  let end = digits.length;
  while (end > 0 && digits.charAt(end - 1) === '0') end--;
  return digits.slice(0, end);
}
