import type { BinaryOperator } from '../expression/parse.js';
import { ARITHMETIC } from './arithmetic.js';
import { compareItems, equalItems, keysOf } from './compare.js';
import type { Evaluate } from './function-types.js';
import { spendText, type Environment } from './environment.js';
import { isTemporal, shiftTime } from './times.js';
import {
  isJson,
  isNumber,
  PathItem,
  NONE,
  ofBoolean,
  ofNumber,
  ofText,
  toBoolean,
  toNumber,
  toText,
  type Items,
} from './item.js';

type Make = (left: Evaluate, right: Evaluate) => Evaluate;
type Combine = (left: Items, right: Items, environment: Environment) => Items;

/** Binary operators: each makes the evaluation of its two operands. http://hl7.org/fhirpath/N1/#operations */
export const OPERATORS: Readonly<Record<BinaryOperator, Make>> = {
  // The right operand is left alone where the left one decides.
  and: (left, right) => (focus, environment) => {
    const a = toBoolean(left(focus, environment));
    if (a === false) return ofBoolean(false);
    const b = toBoolean(right(focus, environment));
    return ofBoolean(b === false ? false : a === true ? b : undefined);
  },
  or: (left, right) => (focus, environment) => {
    const a = toBoolean(left(focus, environment));
    if (a === true) return ofBoolean(true);
    const b = toBoolean(right(focus, environment));
    return ofBoolean(b === true ? true : a === false ? b : undefined);
  },
  implies: (left, right) => (focus, environment) => {
    const a = toBoolean(left(focus, environment));
    if (a === false) return ofBoolean(true);
    const b = toBoolean(right(focus, environment));
    return ofBoolean(b === true ? true : a === true ? b : undefined);
  },
  xor: both((left, right) => {
    const [a, b] = [toBoolean(left), toBoolean(right)];
    return ofBoolean(a === undefined || b === undefined ? undefined : a !== b);
  }),
  in: both((left, right, environment) => (left.length === 0 ? NONE : ofBoolean(holds(right, left, environment)))),
  contains: both((left, right, environment) =>
    right.length === 0 ? NONE : ofBoolean(holds(left, right, environment)),
  ),
  '=': both((left, right, environment) => ofBoolean(equal(left, right, environment))),
  '!=': both((left, right, environment) => ofBoolean(negate(equal(left, right, environment)))),
  '~': both((left, right, environment) => ofBoolean(isEquivalent(left, right, environment))),
  '!~': both((left, right, environment) => ofBoolean(!isEquivalent(left, right, environment))),
  '<': ordered((order) => order < 0),
  '<=': ordered((order) => order <= 0),
  '>': ordered((order) => order > 0),
  '>=': ordered((order) => order >= 0),
  '+': both((left, right, environment) => {
    const [a, b] = [toText(left), toText(right)];
    return a !== undefined && b !== undefined
      ? joined(a, b, environment)
      : (shifted(left, right, 1) ?? calculate(left, right, ARITHMETIC['+'], environment));
  }),
  '-': both(
    (left, right, environment) => shifted(left, right, -1) ?? calculate(left, right, ARITHMETIC['-'], environment),
  ),
  '*': calculated(ARITHMETIC['*']),
  '/': calculated(ARITHMETIC['/']),
  div: calculated(ARITHMETIC.div),
  mod: calculated(ARITHMETIC.mod),
  // Nothing counts as an empty text.
  '&': both((left, right, environment) => joined(toText(left) ?? '', toText(right) ?? '', environment)),
};

function both(combine: Combine): Make {
  return (left, right) => (focus, environment) =>
    combine(left(focus, environment), right(focus, environment), environment);
}

function equal(left: Items, right: Items, environment: Environment): boolean | undefined {
  const same = equalItems(left, right, environment);
  if (same === undefined && left.length > 0 && right.length > 0) leaveOpen(left, environment);
  return same;
}

/** Times of different precision say nothing of each other; units that have nothing in common should not be compared. */
function leaveOpen([left]: Items, environment: Environment): void {
  if (typeof left?.value === 'string') environment.isOpen = true;
  else environment.isUndecided = true;
}

function negate(value: boolean | undefined): boolean | undefined {
  return value === undefined ? undefined : !value;
}

function ordered(test: (order: number) => boolean): Make {
  return both((left, right, environment) => {
    const order = compareItems(left, right);
    if (order === undefined && hasValues(left) && hasValues(right)) {
      leaveOpen(left, environment);
      if (!areAlike(left, right)) environment.isMistaken = true;
    }
    return ofBoolean(order === undefined ? undefined : test(order));
  });
}

function hasValues(items: Items): boolean {
  return items.length > 0 && items.every(({ value }) => value !== undefined);
}

/** Whether there is one value on each side, and both are of one form in JSON. */
function areAlike(left: Items, right: Items): boolean {
  const [a, b] = [left[0]?.value, right[0]?.value];
  return left.length === 1 && right.length === 1 && (typeof a === typeof b || (isNumber(a) && isNumber(b)));
}

/** @throws TooCostly */
function joined(a: string, b: string, environment: Environment): Items {
  spendText(environment, a.length + b.length);
  return ofText(a + b);
}

/** Whether all of some items are among others. */
function holds(all: Items, some: Items, environment: Environment): boolean {
  if (all.length === 0) return false;
  const keys = new Set(keysOf(all, environment));
  return keysOf(some, environment).every((key) => keys.has(key));
}

/** Equal in any order, texts without regard to case. http://hl7.org/fhirpath/N1/#equivalent */
function isEquivalent(left: Items, right: Items, environment: Environment): boolean {
  if (left.length !== right.length) return false;
  // Amounts in other units, and times in other zones.
  if (left.length === 1 && equalItems(left, right, environment) === true) return true;
  const keys = (items: Items): string => keysOf(items, environment).map((key) => key.toLowerCase()).sort().join(); // prettier-ignore
  return keys(left) === keys(right);
}

/** A time with a duration before or behind it; undefined: these are others. */
function shifted([time, ...others]: Items, [duration, ...more]: Items, sign: 1 | -1): Items | undefined {
  if (time === undefined || duration === undefined || others.length > 0 || more.length > 0) return undefined;
  if (typeof time.value !== 'string' || !isTemporal(time.type) || !isJson(duration.value)) return undefined;
  const { value, code } = duration.value;
  const text = shiftTime(time.value, sign * Number(value), String(code));
  return text === undefined ? undefined : [new PathItem(text, time.type)];
}

function calculated(work: (a: number, b: number) => number | undefined): Make {
  return both((left, right, environment) => calculate(left, right, work, environment));
}

function calculate(
  left: Items,
  right: Items,
  work: (a: number, b: number) => number | undefined,
  environment: Environment,
): Items {
  const [a, b] = [toNumber(left), toNumber(right)];
  if (a !== undefined && b !== undefined) return ofNumber(work(a, b));
  // Quantities are not calculated with here.
  if (hasValues(left) && hasValues(right)) environment.isUndecided = environment.isMistaken = true;
  return NONE;
}
