import type { Expression } from './parse.js';

/** The name of an element, and what it is of. */
export type ElementName = Extract<Expression, { kind: 'name' }>;

/** Functions whose result is one value at most, whatever they are called on; `iif` has those of its branches. */
const FUNCTIONS: ReadonlySet<string> = new Set([
  ...['empty', 'exists', 'not', 'all', 'allTrue', 'anyTrue', 'allFalse', 'anyFalse', 'count', 'isDistinct', 'is'],
  ...['single', 'first', 'last', 'hasValue', 'getValue', 'join', 'length', 'indexOf', 'substring', 'startsWith'],
  ...['endsWith', 'contains', 'upper', 'lower', 'trim', 'abs', 'ceiling', 'floor', 'round', 'truncate'],
  ...['toBoolean', 'toInteger', 'toDecimal', 'toString', 'toDate', 'toDateTime', 'toTime', 'toQuantity'],
  ...['convertsToBoolean', 'convertsToInteger', 'convertsToDecimal', 'convertsToString', 'convertsToDate'],
  ...['convertsToDateTime', 'convertsToTime', 'convertsToQuantity'],
]);

/** Terms and operators with one value at most. */
const KINDS: ReadonlySet<Expression['kind']> = new Set([
  ...(['literal', 'number', 'time', 'quantity', 'nothing', 'index', 'negative', 'binary'] as const),
]);

/**
 * Whether an expression gives one value at most, by its last step.
 *
 * @param isOne whether an element has one value at most, and what it is of
 */
export function givesOne(expression: Expression, isOne: (element: ElementName) => boolean): boolean {
  if (expression.kind === 'name') return isOne(expression);
  if (expression.kind !== 'call') return KINDS.has(expression.kind);
  const { name, of, args } = expression;
  if (name !== 'iif') return FUNCTIONS.has(name);
  // The elements of what is before a dot are others.
  return args.slice(1).every((each) => givesOne(each, of === undefined ? isOne : () => false));
}
