import type { PrimitiveRow } from '../contract/types.js';
import { Decimal } from '../fhir/decimal.js';
import { memoizeWeak } from '../fhir/memory/memoize.js';
import { isXhtml } from '../fhir/xml/xhtml.js';
import { isDate, isDateTime, isInstant, isTime } from './date-text.js';
import { isAnyText, isBase64, isCode, isOid, isString, isVisibleText } from './plain-text.js';
import type { PrimitiveTest } from './plan.js';

/**
 * A test for each primitive type: the JSON type, the pattern, the bounds and the length of its row, and four rules
 * that no pattern holds: a string is never empty or white space alone, has no control characters but tab and line ends, nor U+FFFE and U+FFFF
 * (XML cannot carry them), a date is a day of the calendar, and a narrative is a well-formed div of XHTML.
 * Made once for the same rows. https://hl7.org/fhir/R5/datatypes.html#primitive
 */
export const compilePrimitives = memoizeWeak((rows: readonly PrimitiveRow[]): ReadonlyMap<string, PrimitiveTest> => {
  const byName = new Map(rows.map((row) => [row.name, row]));
  return new Map(rows.map((row) => [row.name, compile({ ...row, ...lengthOf(row, byName) })]));
});

function compile(row: PrimitiveRow): PrimitiveTest {
  if (row.name === 'xhtml') return isXhtml;
  if (row.json === 'boolean') return isBoolean;
  return row.json === 'number' ? compileNumber(row) : compileText(row);
}

function isBoolean(value: unknown): boolean {
  return value === true || value === false;
}

/** A specialised type keeps the greatest length of its base: a `markdown` is a `string`. */
function lengthOf(row: PrimitiveRow, rows: ReadonlyMap<string, PrimitiveRow>): { maxLength?: number } {
  for (let at: PrimitiveRow | undefined = row; at; at = at.base === undefined ? undefined : rows.get(at.base)) {
    if (at.maxLength !== undefined) return { maxLength: at.maxLength };
  }
  return {};
}

/**
 * Native tests that say what a pattern (and the rules above) say, for any non-empty text. They are quicker, and unlike
 * some of the patterns they do not run out of stack on a text of megabytes. They go by the pattern they were written
 * for, so that another pattern in another package is obeyed.
 */
const NATIVE: ReadonlyMap<string | undefined, (text: string) => boolean> = new Map([
  [undefined, isString],
  ['[\\s\\S]+', isString],
  ['\\S*', isVisibleText],
  ['[^\\s]+( [^\\s]+)*', isCode],
  ['(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?', isBase64],
  // Of R4B, as the text above the pattern there has it.
  ['(\\s*([0-9a-zA-Z\\+/=]){4}\\s*)+', isBase64],
  ['[ \\r\\n\\t\\S]+', (text) => isString(text) && !OTHER_SPACE.test(text)],
  ['urn:oid:[0-2](\\.(0|[1-9][0-9]*))+', isOid],
  ['([0-9]([0-9]([0-9][1-9]|[1-9]0)|[1-9]00)|[1-9]000)(-(0[1-9]|1[0-2])(-(0[1-9]|[1-2][0-9]|3[0-1]))?)?', isDate],
  [
    '([0-9]([0-9]([0-9][1-9]|[1-9]0)|[1-9]00)|[1-9]000)(-(0[1-9]|1[0-2])(-(0[1-9]|[1-2][0-9]|3[0-1])(T([01][0-9]|2[0-3]):[0-5][0-9]:([0-5][0-9]|60)(\\.[0-9]{1,9})?(Z|(\\+|-)((0[0-9]|1[0-3]):[0-5][0-9]|14:00)))?)?)?',
    isDateTime,
  ],
  [
    '([0-9]([0-9]([0-9][1-9]|[1-9]0)|[1-9]00)|[1-9]000)-(0[1-9]|1[0-2])-(0[1-9]|[1-2][0-9]|3[0-1])T([01][0-9]|2[0-3]):[0-5][0-9]:([0-5][0-9]|60)(\\.[0-9]{1,9})?(Z|(\\+|-)((0[0-9]|1[0-3]):[0-5][0-9]|14:00))',
    isInstant,
  ],
  ['([01][0-9]|2[0-3]):[0-5][0-9]:([0-5][0-9]|60)(\\.[0-9]{1,9})?', isTime],
]);

/** White space that texts of R4B may not have. */
const OTHER_SPACE = /[^ \r\n\t\S]/;

/** No pattern that is left to a regular expression needs more; where it does, the native test is missing. */
const LONGEST_MATCHED = 10_000;

function compileText(row: PrimitiveRow): PrimitiveTest {
  const native = NATIVE.get(row.pattern);
  const longest = row.maxLength ?? Number.POSITIVE_INFINITY;
  if (native !== undefined && row.min === undefined && row.max === undefined) {
    // Once bounded, never again asked: the length test of the types that have none is not worth a branch.
    if (longest === Number.POSITIVE_INFINITY) {
      return (value) => typeof value === 'string' && value.length > 0 && native(value);
    }
    return (value) => typeof value === 'string' && value.length > 0 && value.length <= longest && native(value);
  }
  const whole = native ?? matcher(row.pattern ?? '');
  const [min, max] = [row.min, row.max].map((text) => (text === undefined ? undefined : BigInt(text)));
  return (value) => {
    if (typeof value !== 'string' || value === '' || value.length > Math.min(longest, LONGEST_MATCHED)) return false;
    if (!whole(value) || !isAnyText(value)) return false;
    if (min === undefined && max === undefined) return true;
    const number = BigInt(value);
    return (min === undefined || number >= min) && (max === undefined || number <= max);
  };
}

const INTEGERS: ReadonlySet<string | undefined> = new Set(['[0]|[-+]?[1-9][0-9]*', '[0]|([1-9][0-9]*)', '[1-9][0-9]*']);
const DECIMAL = '-?(0|[1-9][0-9]{0,17})(\\.[0-9]{1,17})?([eE][+-]?[0-9]{1,9})?';

function compileNumber(row: PrimitiveRow): PrimitiveTest {
  const matches = matcher(row.pattern ?? '[\\s\\S]+');
  const min = row.min === undefined ? Number.NEGATIVE_INFINITY : Number(row.min);
  const max = row.max === undefined ? Number.POSITIVE_INFINITY : Number(row.max);
  if (INTEGERS.has(row.pattern) && Number.isSafeInteger(min) && Number.isSafeInteger(max)) {
    // A Decimal is an integer written as none (1.0, 1e3, -0), or one beyond all bounds.
    return (value) => Number.isInteger(value) && (value as number) >= min && (value as number) <= max;
  }
  const text: PrimitiveTest = (value) => {
    if (typeof value !== 'number' && !(value instanceof Decimal)) return false;
    return matches(String(value)) && +value >= min && +value <= max;
  };
  if (row.pattern !== DECIMAL || row.min !== undefined || row.max !== undefined) return text;
  const decimal: PrimitiveTest = (value) =>
    text(value) && isComparable(value as number | Decimal) && digitsOf(String(value)) <= MOST_DIGITS;
  // The text of a double between these never has more digits than the pattern allows.
  return (value) => (typeof value === 'number' && Math.abs(value) >= 0.1 && Math.abs(value) < 1e18) || decimal(value);
}

/** Digits of a decimal, those of its exponent aside. https://hl7.org/fhir/R5/datatypes.html#decimal */
const MOST_DIGITS = 18;

function digitsOf(text: string): number {
  return text.replace(/[eE].*/, '').replace(/[^0-9]/g, '').length;
}

/** Searches compare doubles: a number that none comes near could be stored, but not be found. */
function isComparable(value: number | Decimal): boolean {
  const double = Number(value);
  return Number.isFinite(double) && (double !== 0 || !/^-?[0.]*[1-9]/.test(String(value)));
}

function matcher(pattern: string): (text: string) => boolean {
  const whole = new RegExp(`^(?:${pattern})$`, 'u');
  return (text) => whole.test(text);
}
