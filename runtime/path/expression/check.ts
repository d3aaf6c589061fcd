import { didYouMean } from '../../fhir/nearest.js';
import { memoize } from '../../fhir/memory/memoize.js';
import { PathFault } from './path-fault.js';
import { PathTooLarge, scanPath } from './scan-path.js';
import { ExpressionError } from './expression-error.js';
import { FUNCTIONS, REFUSALS } from './functions.js';
import { parseExpression, type Expression, type TypeName } from './parse.js';
import { SYSTEM_TYPES, type TypeIndex } from './type-index.js';

/** Types of values; undefined: they are unknown. */
export type Types = readonly string[] | undefined;

/** A call of a function. */
export type FunctionCall = Extract<Expression, { kind: 'call' }>;

/** Names that an expression may use beside elements and types. */
export interface Vocabulary {
  /** Variables, with the types of their values. */
  readonly variables: ReadonlyMap<string, Types>;
  /** @throws ExpressionError where a function may not be called so */
  readonly checkCall: (call: FunctionCall) => void;
}

/** Functions that give what they are called on, or some of it. */
const KEEPING: ReadonlySet<string> = new Set(
  'where first last tail single take skip distinct intersect exclude'.split(' '),
);

/** Functions whose arguments are about each value that they are called on. */
const LOOKING: ReadonlySet<string> = new Set(['where', 'select', 'all', 'exists', 'repeat', 'iif']);

/** Operators whose result is no boolean. */
const CALCULATING: ReadonlySet<string> = new Set(['+', '-', '&', '*', '/', 'div', 'mod']);

/** http://hl7.org/fhirpath/N1/#datetime, http://hl7.org/fhirpath/N1/#time */
const TIME =
  /^(?:T\d\d(?::\d\d(?::\d\d(?:\.\d+)?)?)?|\d{4}(?:-\d\d(?:-\d\d)?)?(?:T(?:\d\d(?::\d\d(?::\d\d(?:\.\d+)?)?)?(?:Z|[+-]\d\d:\d\d)?)?)?)$/;

/** Trees that are kept: an expression is looked at for each type that it is for. */
const KEPT = 500;

/** Reads an expression of a client, within limits. @throws ExpressionError `wrong`, with the place, or `too-large` */
export const parseLimited = memoize((text: string): Expression => {
  const unread = scanFault(text);
  if (unread instanceof PathTooLarge) throw new ExpressionError(unread.message, 'too-large');
  let expression: Expression;
  try {
    expression = parseExpression(text);
  } catch (error) {
    if (!(error instanceof ExpressionError)) throw error;
    throw wrong(error.message.replace(`${text}: `, ''), error.at);
  }
  if (unread !== undefined) throw wrong(unread.message);
  return expression;
}, KEPT);

function scanFault(text: string): PathFault | undefined {
  try {
    scanPath(text);
    return undefined;
  } catch (error) {
    if (error instanceof PathFault) return error;
    throw error;
  }
}

/** What expressions of search parameters, HFQL and GraphQL may name. */
const PORTABLE: Vocabulary = {
  variables: new Map([
    ['resource', undefined],
    ['rootResource', undefined],
  ]),
  checkCall({ name, args, start }) {
    const counts = FUNCTIONS.get(name);
    if (counts === undefined) {
      const why = Object.hasOwn(REFUSALS, name) ? `: ${REFUSALS[name]}` : '';
      throw wrong(`the function ${name}() cannot be called here${why}`, start);
    }
    if (!counts.includes(args.length)) {
      throw wrong(`${name}() takes ${counts.join(' or ')} arguments, not ${args.length}`, start);
    }
  },
};

/**
 * Checks an expression of a client: whether all that it calls may be called, and whether the names in it are those of
 * elements, as far as that is known.
 *
 * @param root the type it starts from
 * @returns names of the types of its values; undefined: they are unknown
 * @throws ExpressionError `wrong`, with the place, or `too-large`
 */
export function checkExpression(text: string, root: string, types: TypeIndex): Types {
  return typesOf(parseLimited(text), root, types);
}

/** Types of the values of an expression, or of a part of it; contract as `checkExpression`. */
export function typesOf(expression: Expression, root: string, types: TypeIndex): Types {
  return checkNames(expression, root, types, PORTABLE);
}

/** Checks the names in an expression; contract as `checkExpression`. */
export function checkNames(expression: Expression, root: string, index: TypeIndex, vocabulary: Vocabulary): Types {
  return new Checker(root, index, vocabulary).types(expression, [root], false);
}

class Checker {
  constructor(
    private readonly root: string,
    private readonly index: TypeIndex,
    private readonly vocabulary: Vocabulary,
  ) {}

  /** @param isInner the expression is an argument about values: a name at its front is a child, never the type */
  types(expression: Expression, focus: Types, isInner: boolean): Types {
    const of = (each: Expression): Types => this.types(each, focus, isInner);
    switch (expression.kind) {
      case 'name':
        if (expression.of !== undefined) return this.member(expression, of(expression.of));
        return !isInner && this.index.ancestors(this.root).includes(expression.name)
          ? [this.root]
          : this.member(expression, focus);
      case 'call':
        return this.call(expression, focus, isInner);
      case 'index':
        return of(expression.of);
      case 'union':
        return either(expression.of.map(of));
      case 'type': {
        of(expression.of);
        const narrowed = this.narrowed(expression.named);
        return expression.operator === 'is' ? ['boolean'] : narrowed;
      }
      case 'binary':
        of(expression.left);
        of(expression.right);
        return CALCULATING.has(expression.operator) ? undefined : ['boolean'];
      case 'negative':
        of(expression.of);
        return undefined;
      case 'variable':
        return this.variable(expression);
      case 'this':
        return focus;
      case 'time':
        if (!TIME.test(expression.text)) throw wrong(`@${expression.text} is neither a date nor a time`);
        return undefined;
      default:
        return undefined;
    }
  }

  private member({ name, start }: Extract<Expression, { kind: 'name' }>, of: Types): Types {
    if (of === undefined) return undefined;
    const found = of.flatMap((type) => this.index.element(type, name)?.types ?? this.index.beside(type, name) ?? []);
    if (found.length > 0) return [...new Set(found)];
    // What may be any resource, or any element, may have anything.
    if (of.some((type) => this.index.isAbstract(type))) return undefined;
    const some = of.slice(0, 5);
    for (const type of some) {
      const form = this.index.members(type).get(name);
      if (form !== undefined && form.element.name !== name)
        throw wrong(`${type} has no element ${name}; write ${form.element.name}.ofType(${form.type})`, start);
    }
    const known = some.flatMap((type) => this.index.elements(type).map((each) => each.name));
    throw wrong(`${some.join('|')} has no element ${name}${didYouMean(name, known)}`, start);
  }

  private call(call: FunctionCall, focus: Types, isInner: boolean): Types {
    const { name, of, args, start } = call;
    const on = of === undefined ? focus : this.types(of, focus, isInner);
    this.vocabulary.checkCall(call);
    const [first] = args;
    if (name === 'is' || name === 'as' || name === 'ofType') {
      const narrowed = this.narrowed(typeNameOf(first) ?? { text: '', start });
      return name === 'is' ? ['boolean'] : narrowed;
    }
    if (name === 'getReferenceKey') return this.referenceKey(on, typeNameOf(first), start);
    const isLooking = LOOKING.has(name);
    const results = args.map((each) => this.types(each, isLooking ? on : focus, isLooking || isInner));
    if (KEEPING.has(name)) return on;
    if (name === 'select') return results[0];
    if (name === 'union' || name === 'combine') return either([on, results[0]]);
    return name === 'extension' ? ['Extension'] : undefined;
  }

  /** `getReferenceKey(Type)`: what is called on no Reference, or asks for no type, is empty. */
  private referenceKey(on: Types, target: TypeName | undefined, start: number): Types {
    if (on?.some((type) => type === 'Reference' || this.index.isAbstract(type)) === false)
      throw wrong(`getReferenceKey() is for a Reference, and this is ${on.slice(0, 5).join('|')}`, start);
    const asked = target?.text.replace(/^FHIR\./, '');
    if (asked !== undefined && !this.index.isConcreteResource(asked))
      throw wrong(`there is no resource type ${asked}${didYouMean(asked, this.index.resources())}`, target?.start);
    return ['string'];
  }

  private variable({ name, start }: Extract<Expression, { kind: 'variable' }>): Types {
    const { variables } = this.vocabulary;
    if (!variables.has(name)) throw wrong(`%${name} is not known here; %resource is`, start);
    return variables.get(name);
  }

  /** The types that values of a named type are of. */
  private narrowed({ text, start }: TypeName): Types {
    const name = text.slice(text.lastIndexOf('.') + 1);
    const space = text.slice(0, -name.length - 1);
    // Without a name before it, it is one of FHIR where FHIR has it.
    if ((space === '' || space === 'FHIR') && this.index.isType(name)) return [name];
    if ((space !== '' && space !== 'System') || !SYSTEM_TYPES.has(name)) throw wrong(`there is no type ${text}`, start);
    const type = SYSTEM_TYPES.get(name);
    return type === undefined ? undefined : [type];
  }
}

/** The name of the type that an argument names; undefined where it is no name. */
function typeNameOf(argument: Expression | undefined): TypeName | undefined {
  if (argument?.kind !== 'name') return undefined;
  if (argument.of === undefined) return { text: argument.name, start: argument.start };
  const space = typeNameOf(argument.of);
  return space && { text: `${space.text}.${argument.name}`, start: space.start };
}

function either(all: readonly Types[]): Types {
  const known = all.filter((each) => each !== undefined);
  return known.length < all.length ? undefined : [...new Set(known.flat())];
}

function wrong(text: string, at?: number): ExpressionError {
  return new ExpressionError(text, 'wrong', at);
}
