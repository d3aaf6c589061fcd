import { checkNames, type FunctionCall, type Types, type Vocabulary } from '../expression/check.js';
import { ExpressionError } from '../expression/expression-error.js';
import { FUNCTIONS as ARITIES } from '../expression/functions.js';
import { parseExpression } from '../expression/parse.js';
import type { TypeIndex } from '../expression/type-index.js';
import { RegexFault, REGULAR_EFFORT, regexOf } from './linear-regex.js';
import { compileParsed, CONSTANTS } from './compile-expression.js';
import type { Evaluate } from './function-types.js';

/** Functions that cannot be decided on one resource alone. */
const REFUSED: Readonly<Record<string, string>> = {
  resolve: 'no other resource is read',
  memberOf: 'no terminology is asked',
  conformsTo: 'no profile is read',
  trace: 'nothing is written to the log',
  replaceMatches: 'use replace, startsWith, endsWith, contains or matches',
};

/**
 * Compiles an expression whose every name has to be right: an element that does not exist would be a condition that never holds.
 *
 * @param root the type that it starts from; one that others inherit from is no test of names
 * @param variables names beside `%resource`, `%rootResource`, `%context` whose values are of the type
 * @throws ExpressionError saying what is wrong
 */
export function compileChecked(text: string, root: string, variables: ReadonlySet<string>, index: TypeIndex): Evaluate {
  const expression = parseExpression(text);
  const ofRoot = ['resource', 'rootResource', 'context', ...variables];
  const vocabulary: Vocabulary = {
    variables: new Map<string, Types>([
      ...ofRoot.map((name) => [name, [root]] as const),
      ...Object.keys(CONSTANTS).map((name) => [name, undefined] as const),
    ]),
    checkCall,
  };
  checkNames(expression, root, index, vocabulary);
  return compileParsed(expression);
}

function checkCall({ name, args }: FunctionCall): void {
  if (Object.hasOwn(REFUSED, name)) throw wrong(`the function ${name}() is not supported here: ${REFUSED[name]}`);
  const isRegular = name === 'matches' || name === 'matchesFull';
  const counts = isRegular ? [1] : ARITIES.get(name);
  if (counts?.includes(args.length) === false) {
    throw wrong(`${name}() takes ${counts.join(' or ')} arguments, not ${args.length}`);
  }
  const [pattern] = args;
  if (!isRegular || pattern?.kind !== 'literal' || typeof pattern.value !== 'string') return;
  // A pattern that is the same for every resource has to be one; flags are not understood.
  try {
    regexOf(pattern.value, { left: REGULAR_EFFORT });
  } catch (error) {
    if (!(error instanceof RegexFault)) throw error;
    throw wrong(error.message);
  }
}

function wrong(text: string): ExpressionError {
  return new ExpressionError(text, 'wrong');
}
