import type { SyntaxNode } from './library.js';

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
const NODES: ReadonlySet<string> = new Set([
  ...['LiteralTerm', 'IndexerExpression', 'PolarityExpression', 'AdditiveExpression', 'MultiplicativeExpression'],
  ...['EqualityExpression', 'InequalityExpression', 'MembershipExpression', 'AndExpression', 'OrExpression'],
  ...['ImpliesExpression'],
]);

/** What holds another expression and adds nothing. */
const AROUND: ReadonlySet<string> = new Set([
  'EntireExpression',
  'TermExpression',
  'InvocationTerm',
  'ParenthesizedTerm',
]);

/**
 * Whether an expression gives one value at most, by its last step.
 *
 * @param isOne whether an element of the type that it starts from has one value at most
 */
export function givesOne({ type, text, children = [] }: SyntaxNode, isOne: (name: string) => boolean): boolean {
  const [first, second] = children;
  if (AROUND.has(type)) return first !== undefined && givesOne(first, isOne);
  // The elements of what is before a dot are others.
  if (type === 'InvocationExpression') return second !== undefined && givesOne(second, () => false);
  if (type === 'MemberInvocation') return isOne((text ?? '').replaceAll('`', ''));
  if (type !== 'FunctionInvocation') return NODES.has(type);
  if (text !== 'iif') return FUNCTIONS.has(text ?? '');
  const [, ...branches] = first?.children?.find((each) => each.type === 'ParamList')?.children ?? [];
  return branches.every((each) => givesOne(each, isOne));
}
