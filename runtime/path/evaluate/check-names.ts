import { ExpressionError } from '../expression/expression-error.js';
import { parseExpression, type Expression } from '../expression/parse.js';
import { SYSTEM_TYPES, type TypeIndex } from '../expression/type-index.js';
import { FUNCTIONS as ARITIES } from '../library/functions.js';
import { RegexFault } from '../library/linear-regex.js';
import { REGULAR_EFFORT, regexOf } from '../library/regular.js';
import { compileParsed } from './compile-expression.js';
import type { Evaluate } from './function-types.js';

/** Names of types of values; undefined: they are unknown. */
type Types = readonly string[] | undefined;

/** Functions that give what they are called on, or some of it. */
const KEEPING: ReadonlySet<string> = new Set(
  'where first last tail single take skip distinct intersect exclude'.split(' '),
);

/** Functions whose arguments are about each value that they are called on. */
const LOOKING: ReadonlySet<string> = new Set(['where', 'select', 'all', 'exists', 'repeat', 'iif']);

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
  new Checker(root, variables, index).types(expression, [root]);
  return compileParsed(expression);
}

class Checker {
  constructor(
    private readonly root: string,
    private readonly variables: ReadonlySet<string>,
    private readonly index: TypeIndex,
  ) {}

  types(expression: Expression, focus: Types): Types {
    switch (expression.kind) {
      case 'name':
        if (expression.of !== undefined) return this.member(expression.name, this.types(expression.of, focus));
        return focus?.some((type) => this.index.ancestors(type).includes(expression.name)) === true
          ? focus
          : this.member(expression.name, focus);
      case 'call':
        return this.call(expression, focus);
      case 'index':
        return this.types(expression.of, focus);
      case 'union':
        return either(expression.of.map((each) => this.types(each, focus)));
      case 'type':
        this.types(expression.of, focus);
        return expression.operator === 'is' ? ['boolean'] : [this.named(expression.type)];
      case 'binary':
        this.types(expression.left, focus);
        this.types(expression.right, focus);
        return undefined;
      case 'negative':
        this.types(expression.of, focus);
        return undefined;
      case 'variable':
        return this.variable(expression.name);
      case 'this':
        return focus;
      default:
        return undefined;
    }
  }

  private member(name: string, of: Types): Types {
    if (of === undefined) return undefined;
    const found = of.flatMap((type) => this.index.element(type, name)?.types ?? this.index.beside(type, name) ?? []);
    if (found.length > 0) return [...new Set(found)];
    // What may be any resource, or any element, may have anything.
    if (of.some((type) => this.index.isAbstract(type) || type.startsWith('System.'))) return undefined;
    throw wrong(`${of.slice(0, 5).join('|')} has no element ${name}`);
  }

  private call({ name, of, args }: Extract<Expression, { kind: 'call' }>, focus: Types): Types {
    const on = of === undefined ? focus : this.types(of, focus);
    if (Object.hasOwn(REFUSED, name)) throw wrong(`the function ${name}() is not supported here: ${REFUSED[name]}`);
    const counts = ARITIES.get(name);
    if (counts?.includes(args.length) === false) {
      throw wrong(`${name}() takes ${counts.join(' or ')} arguments, not ${args.length}`);
    }
    const [first] = args;
    if (name === 'matches' || name === 'matchesFull') checkRegular(name, args);
    if (name === 'is' || name === 'as' || name === 'ofType') {
      const type = first?.kind === 'name' ? this.named(first.name) : undefined;
      return name === 'is' ? ['boolean'] : type === undefined ? undefined : [type];
    }
    const results = args.map((each) => this.types(each, LOOKING.has(name) ? on : focus));
    if (KEEPING.has(name)) return on;
    if (name === 'select') return results[0];
    if (name === 'union' || name === 'combine') return either([on, results[0]]);
    return name === 'extension' ? ['Extension'] : undefined;
  }

  private variable(name: string): Types {
    if (name === 'resource' || name === 'rootResource' || name === 'context') return [this.root];
    if (this.variables.has(name)) return [this.root];
    return undefined;
  }

  private named(text: string): string {
    const name = text.replace(/^(?:FHIR|System)\./, '');
    if (this.index.isType(name)) return name;
    if (SYSTEM_TYPES.has(name)) return SYSTEM_TYPES.get(name) ?? `System.${name}`;
    throw wrong(`there is no type ${text}`);
  }
}

function either(all: readonly Types[]): Types {
  const known = all.filter((each) => each !== undefined);
  return known.length < all.length ? undefined : [...new Set(known.flat())];
}

/** A pattern that is the same for every resource has to be one; flags are not understood. @throws ExpressionError */
function checkRegular(name: string, args: readonly Expression[]): void {
  if (args.length !== 1) throw wrong(`${name}() takes 1 argument, not ${args.length}`);
  const [pattern] = args;
  if (pattern?.kind !== 'literal' || typeof pattern.value !== 'string') return;
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
