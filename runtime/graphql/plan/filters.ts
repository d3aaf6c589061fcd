import type { Tables } from '../../contract/tables.js';
import { FhirError } from '../../fhir/errors.js';
import type { JsonObject } from '../../fhir/resource.js';
import { ExpressionError } from '../../path/expression/expression-error.js';
import { indexRows, type TypeIndex } from '../../path/expression/type-index.js';
import { checkExpression } from '../../path/library/check.js';
import { beginEvaluation, compileLibrary, type EvaluateLibrary, type Evaluation } from '../../path/library/evaluate.js';

/** Position of a value in its list. https://hl7.org/fhirpath/N1/#index-integer */
const INDEX = '$index';

/** Expressions that stay compiled for one query: one with `$index` is compiled for each position. */
const KEPT = 2000;

/** The FHIRPath expressions of one query: those of `fhirpath` arguments and of `@slice`. */
export class Filters {
  readonly #compiled = new Map<string, EvaluateLibrary>();
  readonly #evaluations = new WeakMap<object, Evaluation | RangeError>();

  constructor(private readonly tables: Pick<Tables, 'types' | 'primitives'>) {}

  /**
   * Checks an expression on values of a type. Nothing is evaluated.
   *
   * @throws FhirError `parameter-invalid`
   */
  check(expression: string, type: string): void {
    if (expression === INDEX) return;
    try {
      checkExpression(expression, type, typeIndex(this.tables));
    } catch (error) {
      if (!(error instanceof ExpressionError)) throw error;
      throw new FhirError('parameter-invalid', `The FHIRPath ${quote(expression)} cannot be used: ${error.message}`);
    }
  }

  /** Whether an expression holds for a value: it finds something, and not `false`. @param root the resource that holds the value */
  holds(expression: string, value: JsonObject, type: string, index: number, root: object): boolean {
    const [first] = this.#evaluate(expression, value, type, index, root);
    return first !== undefined && first !== false;
  }

  /** The result of an expression as a text; empty: it finds nothing. */
  textOf(expression: string, value: JsonObject, type: string, index: number, root: object): string {
    const [first] = this.#evaluate(expression, value, type, index, root);
    return first === undefined || typeof first === 'object' ? '' : String(first);
  }

  #evaluate(expression: string, value: JsonObject, type: string, index: number, root: object): readonly unknown[] {
    if (expression === INDEX) return [index];
    const text = atIndex(expression, index);
    const base = value['resourceType'] === undefined ? type : undefined;
    const key = `${base} ${text}`;
    let run = this.#compiled.get(key);
    if (run === undefined) {
      if (this.#compiled.size >= KEPT) this.#compiled.clear();
      this.#compiled.set(key, (run = compileLibrary(text, base)));
    }
    try {
      return run(value, this.#evaluation(root)).map((each) => each.value);
    } catch (error) {
      const why = error instanceof Error ? error.message.slice(0, 200) : '';
      throw new FhirError('parameter-invalid', `The FHIRPath ${quote(expression)} fails on a value: ${why}`);
    }
  }

  #evaluation(root: object): Evaluation {
    const evaluation = this.#evaluations.get(root) ?? begin(root);
    this.#evaluations.set(root, evaluation);
    if (evaluation instanceof RangeError) throw evaluation;
    return evaluation;
  }
}

/** An error where the resource is too large: to find that out for each of its values would take minutes. */
function begin(root: object): Evaluation | RangeError {
  try {
    return beginEvaluation(root);
  } catch (error) {
    if (error instanceof RangeError) return error;
    throw error;
  }
}

const indexes = new WeakMap<object, TypeIndex>();

function typeIndex(tables: Pick<Tables, 'types' | 'primitives'>): TypeIndex {
  let index = indexes.get(tables.types);
  if (index === undefined) indexes.set(tables.types, (index = indexRows(tables.types, tables.primitives)));
  return index;
}

/** The expression with `$index`, as far as it means the value itself and nothing within parentheses, replaced by its position. */
function atIndex(expression: string, index: number): string {
  if (!expression.includes(INDEX)) return expression;
  let depth = 0;
  return expression.replace(/'(?:\\.|[^'\\])*'|[()]|\$index/g, (part) => {
    if (part === '(') depth++;
    if (part === ')') depth--;
    return part === INDEX && depth === 0 ? String(index) : part;
  });
}

function quote(text: string): string {
  return JSON.stringify(text.length > 100 ? `${text.slice(0, 100)}…` : text);
}
