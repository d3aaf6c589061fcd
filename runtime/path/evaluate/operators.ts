import type { BinaryOperator } from '../expression/parse.js';
import { ARITHMETIC } from './arithmetic.js';
import { compareItems, equalItems, itemKey } from './compare.js';
import type { Evaluate } from './function-types.js';
import { spendText, type Environment } from './environment.js';
import { isNumber, NONE, ofBoolean, ofNumber, ofText, toBoolean, toNumber, toText, type Items } from './item.js';

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
  in: both((left, right) => (left.length === 0 ? NONE : ofBoolean(holds(right, left)))),
  contains: both((left, right) => (right.length === 0 ? NONE : ofBoolean(holds(left, right)))),
  '=': both((left, right, environment) => ofBoolean(equal(left, right, environment))),
  '!=': both((left, right, environment) => ofBoolean(negate(equal(left, right, environment)))),
  '~': both((left, right) => ofBoolean(isEquivalent(left, right))),
  '!~': both((left, right) => ofBoolean(!isEquivalent(left, right))),
  '<': ordered((order) => order < 0),
  '<=': ordered((order) => order <= 0),
  '>': ordered((order) => order > 0),
  '>=': ordered((order) => order >= 0),
  '+': both((left, right, environment) => {
    const [a, b] = [toText(left), toText(right)];
    return a !== undefined && b !== undefined
      ? joined(a, b, environment)
      : calculate(left, right, ARITHMETIC['+'], environment);
  }),
  '-': calculated(ARITHMETIC['-']),
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
  const same = equalItems(left, right);
  if (same === undefined && left.length > 0 && right.length > 0) environment.isUndecided = true;
  return same;
}

function negate(value: boolean | undefined): boolean | undefined {
  return value === undefined ? undefined : !value;
}

function ordered(test: (order: number) => boolean): Make {
  return both((left, right, environment) => {
    const order = compareItems(left, right);
    if (order === undefined && hasValues(left) && hasValues(right)) {
      environment.isUndecided = true;
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
function holds(all: Items, some: Items): boolean {
  if (all.length === 0) return false;
  const keys = new Set(all.map(itemKey));
  return some.every((item) => keys.has(itemKey(item)));
}

/** Equal in any order, texts without regard to case. http://hl7.org/fhirpath/N1/#equivalent */
function isEquivalent(left: Items, right: Items): boolean {
  if (left.length !== right.length) return false;
  const keys = (items: Items): string => items.map((item) => itemKey(item).toLowerCase()).sort().join(); // prettier-ignore
  return keys(left) === keys(right);
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
  // Times and quantities are not calculated with here.
  if (hasValues(left) && hasValues(right)) environment.isUndecided = environment.isMistaken = true;
  return NONE;
}
