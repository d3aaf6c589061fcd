import type { BinaryOperator } from '../expression/parse.js';
import { ARITHMETIC } from './arithmetic.js';
import { compareItems, equalItems, itemKey } from './compare.js';
import type { Evaluate } from './function-types.js';
import type { Environment } from './environment.js';
import { NONE, ofBoolean, ofNumber, ofText, toBoolean, toNumber, toText, type Items } from './item.js';

type Make = (left: Evaluate, right: Evaluate) => Evaluate;
type Combine = (left: Items, right: Items, environment: Environment) => Items;

/** What each operator makes of its operands. http://hl7.org/fhirpath/N1/#operations */
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
  '+': both((left, right) => {
    const [a, b] = [toText(left), toText(right)];
    return a !== undefined && b !== undefined ? ofText(a + b) : calculate(left, right, ARITHMETIC['+']);
  }),
  '-': both((left, right) => calculate(left, right, ARITHMETIC['-'])),
  '*': both((left, right) => calculate(left, right, ARITHMETIC['*'])),
  '/': both((left, right) => calculate(left, right, ARITHMETIC['/'])),
  div: both((left, right) => calculate(left, right, ARITHMETIC.div)),
  mod: both((left, right) => calculate(left, right, ARITHMETIC.mod)),
  // Nothing counts as an empty text.
  '&': both((left, right) => ofText((toText(left) ?? '') + (toText(right) ?? ''))),
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
    if (order === undefined && hasValues(left) && hasValues(right)) environment.isUndecided = true;
    return ofBoolean(order === undefined ? undefined : test(order));
  });
}

function hasValues(items: Items): boolean {
  return items.length > 0 && items.every(({ value }) => value !== undefined);
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

function calculate(left: Items, right: Items, work: (a: number, b: number) => number | undefined): Items {
  const [a, b] = [toNumber(left), toNumber(right)];
  return a === undefined || b === undefined ? NONE : ofNumber(work(a, b));
}
