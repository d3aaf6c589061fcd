import { ExpressionError } from '../expression/expression-error.js';
import { parseExpression, type Expression } from '../expression/parse.js';
import { spend, type Environment } from './environment.js';
import type { Evaluate } from './function-types.js';
import { FUNCTIONS } from './functions.js';
import type { Item } from './item.js';
import { NONE, ofBoolean, ofNumber, ofText, type Items } from './item.js';
import { itemKey } from './compare.js';
import { OPERATORS } from './operators.js';
import { isOfType } from './types.js';

/**
 * Compiles FHIRPath once, to be evaluated often. It never throws for a value, but `TooCostly` where it looks at too many.
 * http://hl7.org/fhirpath/N1/
 *
 * @throws ExpressionError for what it does not support
 */
export function compileExpression(text: string): Evaluate {
  return compile(parseExpression(text));
}

/** Variables with a value of their own. https://hl7.org/fhir/R5/fhirpath.html#vars */
const CONSTANTS: Readonly<Record<string, string>> = {
  ucum: 'http://unitsofmeasure.org',
  sct: 'http://snomed.info/sct',
  loinc: 'http://loinc.org',
};

function compile(expression: Expression): Evaluate {
  switch (expression.kind) {
    case 'name':
      return compileName(expression);
    case 'call':
      return compileCall(expression);
    case 'index': {
      const of = compile(expression.of);
      const { at } = expression;
      return (focus, environment) => of(focus, environment).slice(at, at + 1);
    }
    case 'union':
      return compileUnion(expression.of.map(compile));
    case 'type': {
      const of = compile(expression.of);
      const { type, operator } = expression;
      if (operator === 'is') return (focus, environment) => isType(of(focus, environment), type, environment);
      return (focus, environment) => ofType(of(focus, environment), type, environment);
    }
    case 'binary': {
      const [left, right] = [compile(expression.left), compile(expression.right)];
      return OPERATORS[expression.operator](left, right);
    }
    case 'negative': {
      const of = compile(expression.of);
      return (focus, environment) => ofNumber(-Number(of(focus, environment)[0]?.value));
    }
    case 'literal': {
      const value = typeof expression.value === 'string' ? ofText(expression.value) : ofBoolean(expression.value);
      return () => value;
    }
    case 'number': {
      const value = ofNumber(Number(expression.text));
      return () => value;
    }
    case 'variable':
      return compileVariable(expression.name);
    case 'this':
      return (focus) => focus;
    case 'nothing':
      return () => NONE;
  }
}

function compileName({ name, of }: Extract<Expression, { kind: 'name' }>): Evaluate {
  if (of === undefined) {
    return (focus, environment) => {
      const [first] = focus;
      // At the front the name of the type is the value itself.
      if (first !== undefined && first.type === name && focus.length === 1) return focus;
      return step(focus, name, environment);
    };
  }
  const before = compile(of);
  return (focus, environment) => step(before(focus, environment), name, environment);
}

function step(items: Items, name: string, environment: Environment): Items {
  if (items.length === 0) return NONE;
  const found: Item[] = [];
  for (const item of items) environment.schema.children(item, name, found);
  spend(environment, found.length);
  return found;
}

function compileCall({ name, of, args }: Extract<Expression, { kind: 'call' }>): Evaluate {
  const on = of === undefined ? undefined : compile(of);
  const [argument] = args;
  if ((name === 'is' || name === 'as' || name === 'ofType') && argument !== undefined) {
    const type = typeNameOf(argument);
    const test = name === 'is' ? isType : ofType;
    return (focus, environment) => test(on === undefined ? focus : on(focus, environment), type, environment);
  }
  const make = FUNCTIONS.get(name);
  if (make === undefined) throw new ExpressionError(`${name}() is not supported`);
  const run = make(args.map(compile));
  return (focus, environment) => run(on === undefined ? focus : on(focus, environment), environment, focus);
}

/** The type that an argument names: `Patient`, `FHIR.Patient`, `System.String`. */
function typeNameOf(argument: Expression): string {
  if (argument.kind !== 'name') throw new ExpressionError('expected the name of a type');
  const { name, of } = argument;
  if (of === undefined || (of.kind === 'name' && of.name === 'FHIR')) return name;
  return of.kind === 'name' ? `${of.name}.${name}` : name;
}

function isType(items: Items, type: string, { schema }: Environment): Items {
  const [only] = items;
  return only === undefined || items.length > 1 ? NONE : ofBoolean(isOfType(only, type, schema.types));
}

function ofType(items: Items, type: string, { schema }: Environment): Items {
  return items.filter((item) => isOfType(item, type, schema.types));
}

function compileUnion(parts: readonly Evaluate[]): Evaluate {
  return (focus, environment) => {
    const all = parts.flatMap((part) => part(focus, environment));
    return all.length < 2 ? all : distinct(all);
  };
}

function distinct(items: Items): Items {
  const seen = new Set<string>();
  return items.filter((item) => {
    const { size } = seen;
    return seen.add(itemKey(item)).size > size;
  });
}

function compileVariable(name: string): Evaluate {
  if (name === 'resource') return (_focus, environment) => [environment.resource];
  if (name === 'rootResource') return (_focus, environment) => [environment.root];
  if (name === 'context') return (_focus, environment) => [environment.context];
  const constant = CONSTANTS[name];
  if (constant === undefined) throw new ExpressionError(`the variable %${name} is not supported`);
  const value = ofText(constant);
  return () => value;
}
