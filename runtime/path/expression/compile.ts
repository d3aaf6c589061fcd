import type { PathStep } from '../../contract/index.js';
import { ExpressionError } from './expression-error.js';

import { parseExpression, type Expression } from './parse.js';
import { formsOf, SYSTEM_TYPES, type IndexedElement, type TypeIndex } from './type-index.js';

/** Steps, and the types of the values that they reach. */
export interface CompiledPath {
  readonly steps: readonly PathStep[];
  readonly types: readonly string[];
  /** Inside a condition: a name at the front is a child, never the type. */
  readonly inner?: true;
  /** The element that the last step went to, if it went to one: tells bindings. */
  readonly element?: IndexedElement;
}

/**
 * Compiles one branch into steps.
 *
 * @param text the branch, in FHIRPath
 * @param root the type it starts from; its name at the front is no step
 * @throws ExpressionError naming what cannot be compiled: a name that the type lacks, a comparison that can never be
 *   true, a function that no step does
 */
export function compileBranch(text: string, root: string, types: TypeIndex): CompiledPath {
  try {
    return new Compiler(root, types).compile(parseExpression(text));
  } catch (error) {
    if (error instanceof ExpressionError) {
      throw new ExpressionError(`${root}: ${text}: ${error.message}`, error.fault, error.at);
    }
    throw error;
  }
}

/** Types whose values are compared with a text as they are; dates and times are not. */
const TEXTS: ReadonlySet<string> = new Set([
  'canonical',
  'code',
  'id',
  'markdown',
  'oid',
  'string',
  'uri',
  'url',
  'uuid',
]);

/** A name in an expression, with its place. */
type Named = Extract<Expression, { kind: 'name' }>;

class Compiler {
  constructor(
    private readonly root: string,
    private readonly types: TypeIndex,
  ) {}

  compile(expression: Expression): CompiledPath {
    const start = { steps: [], types: [this.root] };
    return this.notFalse(expression) ?? this.path(expression, start);
  }

  private path(expression: Expression, start: CompiledPath): CompiledPath {
    switch (expression.kind) {
      case 'name':
        return expression.of === undefined
          ? this.first(expression, start)
          : this.child(this.path(expression.of, start), expression);
      case 'index':
        return then(this.path(expression.of, start), { index: expression.at });
      case 'type':
        if (expression.operator === 'as') return this.narrow(this.path(expression.of, start), expression.type);
        break;
      case 'call':
        return this.call(expression, start);
      case 'union': {
        const found = expression.of.map((way) => this.path(way, start));
        const types = [...new Set(found.flatMap((way) => way.types))];
        const ways = types.length > 1 ? found.map(tellType) : found;
        const steps = new Map(
          ways.map((way): [string, readonly PathStep[]] => {
            const onward = way.steps.slice(start.steps.length);
            return [JSON.stringify(onward), onward];
          }),
        );
        return { steps: [...start.steps, { union: [...steps.values()] }], types };
      }
      default:
    }
    throw new ExpressionError(`${expression.kind} is no path`);
  }

  /** The first name: the type itself, or one of those that it specialises; otherwise a child of it. */
  private first(named: Named, start: CompiledPath): CompiledPath {
    const { name } = named;
    const [type = ''] = start.types;
    const isRoot = start.inner !== true && this.types.ancestors(type).includes(name);
    return isRoot && this.types.element(type, name) === undefined ? start : this.child(start, named);
  }

  private child(path: CompiledPath, { name, start }: Named): CompiledPath {
    const found = path.types.map((type) => this.types.element(type, name));
    const [element] = found;
    if (element === undefined || path.types.length > 1) {
      const [type = ''] = path.types;
      const mayHave = path.types.length > 1 || this.types.beside(type, name) !== undefined;
      const fault = mayHave ? 'no-steps' : 'wrong';
      throw new ExpressionError(`${path.types.join('|')} has no element ${name}`, fault, start);
    }
    return toForms(path, element, formsOf(element));
  }

  private call(expression: Extract<Expression, { kind: 'call' }>, start: CompiledPath): CompiledPath {
    const { name, args } = expression;
    const path = expression.of === undefined ? start : this.path(expression.of, start);
    const [arg] = args;
    if ((name === 'ofType' || name === 'as') && args.length === 1 && arg?.kind === 'name' && isOfFhir(arg))
      return this.narrow(path, arg.name);
    if (name === 'first' && args.length === 0) return then(path, { index: 0 });
    if (name === 'where' && args.length === 1 && arg !== undefined) return this.where(path, arg);
    if (name === 'extension' && args.length === 1 && arg?.kind === 'literal' && typeof arg.value === 'string') {
      return { steps: [...path.steps, { extension: arg.value }], types: ['Extension'] };
    }
    throw new ExpressionError(`${name}(…) of this form is not one of the steps`);
  }

  /** ofType() and as: chooses among the forms of a choice element, or among resources. */
  private narrow(path: CompiledPath, type: string): CompiledPath {
    const { element } = path;
    if (SYSTEM_TYPES.has(type) && !this.types.isType(type)) throw new ExpressionError(`${type} is a type of FHIRPath`);
    if (this.types.isAbstract(type))
      throw new ExpressionError(`nothing is just a ${type}: name the types that are meant`);
    if (path.types.includes('Resource') && this.types.isConcreteResource(type)) {
      return { steps: [...path.steps, { is: type }], types: [type] };
    }
    // On what is of this type anyway it changes nothing.
    if (element?.choice !== true && path.types.every((own) => this.types.ancestors(own).includes(type))) return path;
    const forms =
      element === undefined
        ? []
        : formsOf(element).filter(([, form]) => path.types.includes(form) && this.types.ancestors(form).includes(type));
    if (element === undefined || forms.length === 0) {
      throw new ExpressionError(`${element?.path ?? path.types.join('|')} cannot be a ${type}`, 'wrong');
    }
    const last = path.steps.at(-1);
    if (last === undefined || !('get' in last || 'choose' in last)) {
      throw new ExpressionError('a type is chosen right behind the element alone');
    }
    return toForms({ steps: path.steps.slice(0, -1), types: [] }, element, forms);
  }

  private where(path: CompiledPath, condition: Expression): CompiledPath {
    if (condition.kind === 'type' && condition.operator === 'is' && isResolve(condition.of)) {
      if (!this.types.isConcreteResource(condition.type)) {
        throw new ExpressionError(`${condition.type} is not a resource type`, 'wrong');
      }
      if (path.types.some((type) => type !== 'Reference')) {
        throw new ExpressionError(`${path.types.join('|')} is no reference to resolve`, 'wrong');
      }
      return then(path, { refers: condition.type });
    }
    const inner = { steps: [], types: path.types, inner: true as const };
    if (condition.kind === 'binary' && condition.operator === '=' && condition.right.kind === 'literal') {
      const left = this.path(condition.left, inner);
      const { value } = condition.right;
      const isComparable = (type: string): boolean =>
        typeof value === 'boolean' ? type === 'boolean' : TEXTS.has(type);
      if (!left.types.every(isComparable))
        throw new ExpressionError(`a ${left.types.join('|')} never equals ${JSON.stringify(condition.right.value)}`);
      return then(path, { where: left.steps, equals: condition.right.value });
    }
    if (
      condition.kind === 'call' &&
      condition.name === 'exists' &&
      condition.args.length === 0 &&
      condition.of !== undefined
    ) {
      return then(path, { where: this.path(condition.of, inner).steps });
    }
    throw new ExpressionError('where(…) of this form is not one of the steps');
  }

  /** `x.exists() and x != false`, the one condition that is a value. */
  private notFalse(expression: Expression): CompiledPath | undefined {
    if (expression.kind !== 'binary' || expression.operator !== 'and') return undefined;
    const { left, right } = expression;
    if (left.kind !== 'call' || left.name !== 'exists' || left.of === undefined || left.args.length > 0)
      return undefined;
    if (right.kind !== 'binary' || right.operator !== '!=' || right.right.kind !== 'literal') return undefined;
    const path = this.path(left.of, { steps: [], types: [this.root] });
    const same = JSON.stringify(path) === JSON.stringify(this.path(right.left, { steps: [], types: [this.root] }));
    if (!same || right.right.value !== false) return undefined;
    return { steps: [...path.steps, { notFalse: true }], types: ['boolean'] };
  }
}

/** Whether the name of a type is one of FHIR, with `FHIR.` before it or without. */
function isOfFhir({ of }: Named): boolean {
  return of === undefined || (of.kind === 'name' && of.name === 'FHIR' && of.of === undefined);
}

function isResolve(expression: Expression): boolean {
  return expression.kind === 'call' && expression.name === 'resolve' && expression.of === undefined;
}

/** A step that changes neither the types nor the element. */
function then(path: CompiledPath, step: PathStep): CompiledPath {
  return { steps: [...path.steps, step], types: path.types };
}

/** The same path, whose last step tells the type: a union of an instant and a dateTime has values that look alike. */
function tellType(path: CompiledPath): CompiledPath {
  const last = path.steps.at(-1);
  const [type, ...others] = path.types;
  if (last === undefined || !('get' in last) || type === undefined || others.length > 0) return path;
  return { ...path, steps: [...path.steps.slice(0, -1), { choose: { [last.get]: type } }] };
}

/** The step to an element in the given forms: one is a plain child. */
function toForms(path: CompiledPath, element: IndexedElement, forms: (readonly [string, string])[]): CompiledPath {
  const [only] = forms;
  const step: PathStep =
    forms.length === 1 && only !== undefined ? { get: only[0] } : { choose: Object.fromEntries(forms) };
  return { steps: [...path.steps, step], types: [...new Set(forms.map(([, type]) => type))], element };
}
