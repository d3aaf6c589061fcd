import type { SearchRow } from '../../contract/search.js';
import { append } from '../../fhir/lists.js';
import { operandsOf, type Expression } from '../../path/expression/parse.js';
import { narrowByPath, type NarrowingParameter, type PathTest } from '../../search/narrow-by-path.js';
import type { CompiledView } from '../compile-view.js';

/** Surroundings of an expression in a `where`. */
interface Scope {
  /** Path of the focus: `Observation`, within `code.coding.exists()` `Observation.code.coding`. */
  readonly focus: string;
  readonly view: Pick<CompiledView, 'resource' | 'constants'>;
  readonly rows: ReadonlyMap<string, SearchRow>;
}

/** A literal, or a constant of the view. */
interface Literal {
  readonly text: string;
  readonly isTime: boolean;
}

/**
 * Finds the parameters by which a search finds all resources that the conditions of a view take, and perhaps others: the conditions
 * are tested on what it finds.
 *
 * @param rows search parameters of the type
 */
export function narrowWhere(
  view: Pick<CompiledView, 'resource' | 'where' | 'constants'>,
  rows: ReadonlyMap<string, SearchRow>,
): readonly NarrowingParameter[] {
  const scope: Scope = { focus: view.resource, view, rows };
  const found = new Map<string, NarrowingParameter>();
  for (const each of view.where) {
    for (const one of [...narrowTests([truthOf(each, scope)], scope), ...narrow(each, scope)]) {
      if (found.size < MOST) found.set(one.join('='), one);
    }
    if (found.size >= MOST) break;
  }
  return [...found.values()];
}

/** Parameters that narrow a view: more would find hardly fewer resources, and a search with them costs more. */
const MOST = 20;

/** Parameters for a condition: each of them holds wherever it does. */
function narrow(expression: Expression, scope: Scope): readonly NarrowingParameter[] {
  if (expression.kind === 'call') return narrowCall(expression, scope);
  if (expression.kind !== 'binary') return [];
  const { operator, left, right } = expression;
  switch (operator) {
    case 'and':
      return [...narrow(left, scope), ...narrow(right, scope)];
    case 'or':
      return narrowEither(narrow(left, scope), narrow(right, scope));
    default:
      return narrowTests([testOf(expression, scope)], scope);
  }
}

/** `exists()` with its conditions, and those of the `where()` before it. What a call has behind its first argument is not evaluated. */
function narrowCall(call: Extract<Expression, { kind: 'call' }>, scope: Scope): readonly NarrowingParameter[] {
  const { name, of, args } = call;
  if (name !== 'exists' || of === undefined) return [];
  const conditions = args.slice(0, 1).flatMap(conjuncts);
  let base = of;
  while (base.kind === 'call' && base.name === 'where' && base.of !== undefined) {
    append(conditions, base.args.slice(0, 1).flatMap(conjuncts));
    base = base.of;
  }
  const focus = pathOf(base, scope);
  if (focus === undefined) return [];
  const inner: Scope = { ...scope, focus };
  const tests = conditions.map((each) => testOf(each, inner));
  const others = conditions.filter((_, i) => tests[i] === undefined);
  const own = tests.map((test, i) => (test !== undefined && leadsAway(conditions[i]) ? undefined : test));
  const away = tests.filter((_, i) => own[i] === undefined);
  return [
    ...narrowTests([...withSystem(own, focus), ...away], inner),
    ...others.flatMap((each) => narrow(each, inner)),
  ];
}

function narrowTests(tests: readonly (PathTest | undefined)[], { rows }: Scope): readonly NarrowingParameter[] {
  return tests.flatMap((test) => {
    const found = test && narrowByPath(test, rows);
    return found === undefined ? [] : [found];
  });
}

/** The system that one condition asks of an element goes with the code or the value that others ask of the same one. */
function withSystem(tests: readonly (PathTest | undefined)[], focus: string): readonly (PathTest | undefined)[] {
  const own = tests.find((test) => test?.path === `${focus}.system` && test.operator === '=');
  const [system, ...others] = own?.values ?? [];
  if (system === undefined || others.length > 0) return tests;
  const isOfIt = ({ path }: PathTest): boolean => path === `${focus}.code` || path === `${focus}.value`;
  return tests.map((test) => (test && isOfIt(test) ? { ...test, system } : test));
}

/** Whether a path within a condition begins at the resource: what it reaches is of any element, not of the one that is tested. */
function leadsAway(condition: Expression | undefined): boolean {
  if (condition === undefined) return false;
  if (condition.kind === 'variable') return ROOTS.has(condition.name);
  return operandsOf(condition).some(leadsAway);
}

/** Values of one parameter are alternatives. */
function narrowEither(
  [left]: readonly NarrowingParameter[],
  right: readonly NarrowingParameter[],
): readonly NarrowingParameter[] {
  const same = right.find(([name]) => name === left?.[0]);
  return left === undefined || same === undefined ? [] : [[left[0], `${left[1]},${same[1]}`]];
}

function conjuncts(expression: Expression): readonly Expression[] {
  if (expression.kind !== 'binary' || expression.operator !== 'and') return [expression];
  return [...conjuncts(expression.left), ...conjuncts(expression.right)];
}

/** Operators as they are with their operands exchanged. */
const EXCHANGED = { '=': '=', '<': '>', '<=': '>=', '>': '<', '>=': '<=' } as const;

/** A comparison of a path with literals; undefined: an expression is none. */
function testOf(expression: Expression, scope: Scope): PathTest | undefined {
  if (expression.kind !== 'binary') return undefined;
  const { operator, left, right } = expression;
  if (operator === 'in') {
    const path = pathOf(left, scope);
    const values = (right.kind === 'union' ? right.of : [right]).map((each) => literalOf(each, scope));
    if (path === undefined || values.some((value) => value === undefined)) return undefined;
    return { path, operator: '=', values: values.map((value) => value?.text ?? ''), ...ofTime(values) };
  }
  if (operator !== 'contains' && !Object.hasOwn(EXCHANGED, operator)) return undefined;
  const compared = operator === 'contains' ? '=' : (operator as keyof typeof EXCHANGED);
  const isExchanged = literalOf(left, scope) !== undefined;
  const path = pathOf(isExchanged ? right : left, scope);
  const literal = literalOf(isExchanged ? left : right, scope);
  if (path === undefined || literal === undefined || (compared !== '=' && !literal.isTime)) return undefined;
  if (compared === '=') return { path, operator: compared, values: [literal.text], ...ofTime([literal]) };
  return { path, operator: isExchanged ? EXCHANGED[compared] : compared, values: [literal.text] };
}

/** A time equals texts that are written otherwise: only days are alike wherever they are written. */
function ofTime(values: readonly (Literal | undefined)[]): Pick<PathTest, 'type'> {
  return values.some((value) => value?.isTime) ? { type: 'date' } : {};
}

/**
 * A path that is all of a condition has to give `true`. Within `and` or `exists()` also one value that is no boolean counts as true, and
 * several ones: `false` and `false`, or an element that has only extensions.
 */
function truthOf(expression: Expression, scope: Scope): PathTest | undefined {
  const path = pathOf(expression, scope);
  return path === undefined ? undefined : { path, operator: '=', values: ['true'], type: 'boolean' };
}

const TIMES: ReadonlySet<string> = new Set(['date', 'dateTime', 'instant', 'time']);

function literalOf(expression: Expression, { view }: Scope): Literal | undefined {
  if (expression.kind === 'literal') return { text: String(expression.value), isTime: false };
  if (expression.kind === 'time') return { text: expression.text, isTime: true };
  if (expression.kind !== 'variable') return undefined;
  const [constant] = view.constants.get(expression.name) ?? [];
  const { value, type } = constant ?? { value: undefined, type: '' };
  if (typeof value !== 'string' && typeof value !== 'boolean') return undefined;
  return { text: String(value), isTime: TIMES.has(type) };
}

/** Variables that have the resource of the view, wherever they are. */
const ROOTS: ReadonlySet<string> = new Set(['resource', 'rootResource', 'context']);

/** Functions that leave out some of the values that they are called on. */
const SOME: ReadonlySet<string> = new Set(['first', 'last', 'single', 'where']);

/**
 * The path of an expression, as the definitions of search parameters write it; what only leaves out some of its values is dropped, so
 * that each value that the expression has is one of the path.
 *
 * @returns undefined: it is no path
 */
function pathOf(expression: Expression, scope: Scope): string | undefined {
  const after = (of: Expression | undefined, step: string): string | undefined => {
    const before = of === undefined ? scope.focus : pathOf(of, scope);
    return before && `${before}.${step}`;
  };
  switch (expression.kind) {
    case 'name':
      // Elsewhere it would be the type of another resource, one that is contained.
      if (expression.of === undefined && expression.name === scope.view.resource && scope.focus === expression.name)
        return expression.name;
      return after(expression.of, expression.name);
    case 'this':
      return scope.focus;
    case 'variable':
      return ROOTS.has(expression.name) ? scope.view.resource : undefined;
    case 'index':
      return pathOf(expression.of, scope);
    case 'call': {
      const { name, of, args } = expression;
      if (SOME.has(name) && of !== undefined) return pathOf(of, scope);
      const [type] = args;
      if (name !== 'ofType' || type?.kind !== 'name' || type.of !== undefined) return undefined;
      return after(of, `ofType(${type.name})`);
    }
    default:
      return undefined;
  }
}
