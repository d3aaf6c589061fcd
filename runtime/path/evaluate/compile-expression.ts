import { ExpressionError } from '../expression/expression-error.js';
import { operandsOf, parseExpression, type Expression } from '../expression/parse.js';
import { childrenOf, counted, spend, type Environment, type VersionVariable } from './environment.js';
import { referenceKeys } from './keys.js';
import type { Evaluate } from './function-types.js';
import { FUNCTIONS } from './functions.js';
import { PathItem, NONE, ofBoolean, ofNumber, ofQuantity, ofText, type Items } from './item.js';
import { calendarUnit } from './times.js';
import { distinct } from './compare.js';
import { OPERATORS } from './operators.js';
import { SYSTEM_TYPES } from '../expression/type-index.js';
import { UCUM } from '../../fhir/ucum/system.js';

/**
 * Compiles FHIRPath once, to be evaluated often. It never throws for a value, but `TooCostly` where it looks at too many.
 * http://hl7.org/fhirpath/N1/
 *
 * @param variables names whose values an environment has under `variables`
 * @throws ExpressionError for what it does not support
 */
export function compileExpression(text: string, variables: ReadonlySet<string> = NO_NAMES): Evaluate {
  const expression = parseExpression(text);
  checkVariables(expression, variables);
  return compile(expression);
}

const NO_NAMES: ReadonlySet<string> = new Set();

/** Variables that every environment has. */
const KNOWN: ReadonlySet<string> = new Set(['resource', 'rootResource', 'context', 'current', 'previous']);

function checkVariables(expression: Expression, others: ReadonlySet<string>): void {
  if (expression.kind === 'variable') {
    const { name } = expression;
    if (!KNOWN.has(name) && !others.has(name) && constantOf(name) === undefined)
      throw new ExpressionError(`the variable %${name} is not supported`);
  }
  for (const each of operandsOf(expression)) checkVariables(each, others);
}

/** Compiles a parsed expression like `compileExpression`. */
export const compileParsed = compile;

/** Variables with a value of their own. https://hl7.org/fhir/R5/fhirpath.html#vars */
export const CONSTANTS: Readonly<Record<string, string>> = {
  ucum: UCUM,
  sct: 'http://snomed.info/sct',
  loinc: 'http://loinc.org',
};

function constantOf(name: string): string | undefined {
  if (name.startsWith('vs-')) return `http://hl7.org/fhir/ValueSet/${name.slice(3)}`;
  if (name.startsWith('ext-')) return `http://hl7.org/fhir/StructureDefinition/${name.slice(4)}`;
  return Object.hasOwn(CONSTANTS, name) ? CONSTANTS[name] : undefined;
}

function compile(expression: Expression): Evaluate {
  switch (expression.kind) {
    case 'name':
      return compileName(expression);
    case 'call':
      return compileCall(expression);
    case 'index':
      return compileIndex(expression);
    case 'union':
      return compileUnion(expression.of.map(compile));
    case 'type': {
      const of = compile(expression.of);
      const { type, operator } = expression;
      if (operator === 'is') return (focus, environment) => isType(of(focus, environment), type, environment);
      return (focus, environment) => ofType(of(focus, environment), type, environment);
    }
    case 'binary':
      return OPERATORS[expression.operator](compile(expression.left), compile(expression.right));
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
    case 'time': {
      const value = timeLiteral(expression.text);
      return () => value;
    }
    case 'quantity': {
      const value = [ofQuantity(expression.text, calendarUnit(expression.unit) ?? expression.unit)];
      return () => value;
    }
    case 'this':
      return (focus) => focus;
    case 'position':
      return (_focus, { index }) => ofNumber(index);
    case 'total':
      return (_focus, environment) => counted(environment.total ?? NONE, environment);
    case 'nothing':
      return () => NONE;
  }
}

function timeLiteral(text: string): Items {
  const [, time, day, clock] = /^(?:T(\d\d(?::\d\d(?::\d\d.*)?)?)|(\d{4}(?:-\d\d){0,2})T?(\d\d(?::\d\d(?::\d\d.*)?)?(?:Z|[+-].*)?)?)$/.exec(text) ?? []; // prettier-ignore
  if (time !== undefined) return [new PathItem(time, 'System.Time')];
  if (day === undefined) throw new ExpressionError(`@${text} is no time that is understood here`);
  return [new PathItem(text.replace(/T$/, ''), clock === undefined ? 'System.Date' : 'System.DateTime')];
}

function compileIndex({ of, at }: Extract<Expression, { kind: 'index' }>): Evaluate {
  const all = compile(of);
  if (of.kind !== 'name' || of.of === undefined)
    return (focus, environment) => all(focus, environment).slice(at, at + 1);
  const before = compile(of.of);
  const { name } = of;
  return (focus, environment) => {
    const { schema } = environment;
    const items = before(focus, environment);
    const [only] = items;
    if (only === undefined || items.length > 1 || schema.childAt === undefined) {
      return step(items, name, environment).slice(at, at + 1);
    }
    spend(environment, 1);
    const found = schema.childAt(only, name, at);
    return found === undefined ? NONE : [found];
  };
}

function compileName({ name, of }: Extract<Expression, { kind: 'name' }>): Evaluate {
  if (of === undefined) {
    const isType = /^[A-Z]/.test(name);
    return (focus, environment) => {
      const [first] = focus;
      if (first !== undefined && focus.length === 1) {
        if (first.type === name || (isType && environment.schema.types.ancestors(first.type).includes(name)))
          return focus;
      }
      return step(focus, name, environment);
    };
  }
  const before = compile(of);
  return (focus, environment) => step(before(focus, environment), name, environment);
}

function step(items: Items, name: string, environment: Environment): Items {
  if (items.length === 0) return NONE;
  return childrenOf(items, environment, (item, found) => environment.schema.children(item, name, found));
}

function compileCall({ name, of, args }: Extract<Expression, { kind: 'call' }>): Evaluate {
  const on = of === undefined ? undefined : compile(of);
  const [argument] = args;
  if ((name === 'is' || name === 'as' || name === 'ofType') && argument !== undefined) {
    const type = typeNameOf(argument);
    const test = name === 'is' ? isType : ofType;
    return (focus, environment) => test(on === undefined ? focus : on(focus, environment), type, environment);
  }
  if (name === 'getReferenceKey') {
    const type = argument === undefined ? undefined : typeNameOf(argument);
    return (focus, environment) => referenceKeys(on === undefined ? focus : on(focus, environment), type, environment);
  }
  const make = FUNCTIONS.get(name);
  if (make === undefined) throw new ExpressionError(`${name}() is not supported`);
  const run = make(args.map(compileArgument));
  return (focus, environment) => run(on === undefined ? focus : on(focus, environment), environment, focus);
}

/** Parts of an argument that cost as much as a value each time, where it has more: what is looked at is little beside them. */
const PARTS_IN_A_VALUE = 10;

/** An argument, which many values may have evaluated. */
function compileArgument(argument: Expression): Evaluate {
  const run = compile(argument);
  const cost = Math.floor(partsOf(argument) / PARTS_IN_A_VALUE);
  if (cost < 2) return run;
  return (focus, environment) => {
    spend(environment, cost);
    return run(focus, environment);
  };
}

function partsOf(expression: Expression): number {
  return operandsOf(expression).reduce((sum, each) => sum + partsOf(each), 1);
}

/** The type that an argument names: `Patient`, `FHIR.Patient`, `System.String`. */
function typeNameOf(argument: Expression): string {
  if (argument.kind !== 'name') throw new ExpressionError('expected the name of a type');
  const { name, of } = argument;
  if (of === undefined || (of.kind === 'name' && of.name === 'FHIR')) return name;
  return of.kind === 'name' ? `${of.name}.${name}` : name;
}

function isType(items: Items, type: string, environment: Environment): Items {
  const [only] = items;
  return only === undefined || items.length > 1 ? NONE : ofBoolean(isOfType(only, type, environment));
}

function ofType(items: Items, type: string, environment: Environment): Items {
  spend(environment, items.length);
  return items.filter((item) => isOfType(item, type, environment));
}

/**
 * Whether a value is of a type or of one that specialises it. `String` and the like mean the types of FHIRPath, which values
 * of FHIR are not, unless they are taken for them. https://hl7.org/fhirpath/N1/#types-and-reflection
 */
function isOfType({ type }: PathItem, name: string, { schema: { types }, takesForSystem }: Environment): boolean {
  if (type === name || type === `System.${name}`) return true;
  const system = name.startsWith('System.') ? name.slice('System.'.length) : types.isType(name) ? undefined : name;
  if (system === undefined || !SYSTEM_TYPES.has(system)) return types.ancestors(type).includes(name);
  return takesForSystem === true && types.ancestors(type).includes(SYSTEM_TYPES.get(system) ?? 'string');
}

function compileUnion(parts: readonly Evaluate[]): Evaluate {
  return (focus, environment) => {
    const all = parts.flatMap((part) => part(focus, environment));
    return all.length < 2 ? all : distinct(all, environment);
  };
}

function compileVariable(name: string): Evaluate {
  if (name === 'resource') return (_focus, environment) => [environment.resource];
  if (name === 'rootResource') return (_focus, environment) => [environment.root];
  if (name === 'context') return (_focus, environment) => [environment.context];
  if (name === 'current' || name === 'previous') return (_focus, environment) => versionOf(name, environment);
  const constant = constantOf(name);
  if (constant === undefined)
    return (_focus, environment) => counted(environment.variables?.[name] ?? NONE, environment);
  const value = ofText(constant);
  return () => value;
}

function versionOf(name: VersionVariable, environment: Environment): Items {
  if (environment.versions === undefined) environment.isUndecided = true;
  const version = environment.versions?.[name];
  return version === undefined ? NONE : [version];
}
