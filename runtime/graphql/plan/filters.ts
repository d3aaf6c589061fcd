import type { Tables } from '../../contract/tables.js';
import { FhirError } from '../../fhir/errors.js';
import type { JsonObject } from '../../fhir/resource.js';
import { ExpressionError } from '../../path/expression/expression-error.js';
import { indexRows } from '../../path/expression/type-index.js';
import { checkExpression } from '../../path/expression/check.js';
import {
  beginEvaluation,
  compileLibrary,
  type EvaluateLibrary,
  type Evaluation,
  type EvaluationLimits,
} from '../../path/library/evaluate.js';
import { library } from '../../path/library/library.js';
import { QUERY_LIMITS } from '../request.js';
import { quote } from '../../fhir/quote.js';

/** Position of a value in its list. https://hl7.org/fhirpath/N1/#index-integer */
const INDEX = '$index';

/** Expressions that stay compiled for one query: one with `$index` is compiled for each position. */
const KEPT = 2000;

/** What expressions on one resource may cost: nothing else is done meanwhile. */
const OF_RESOURCE: EvaluationLimits = { values: 50_000, steps: 50_000, allSteps: Infinity, forEach: 0, time: 60 };

/** What one resource still has. */
interface Remaining {
  readonly evaluation: Evaluation;
  /** Milliseconds. */
  time: number;
}

/** What was found before, or why nothing was. */
type Result = readonly unknown[] | FhirError;

/**
 * The FHIRPath expressions of one query: those of `fhirpath` arguments and of `@slice`. All of them share one limit of time. The result of an
 * expression on a value is kept, so that it can be found where others have their turn, and used where they have none.
 */
export class Filters {
  readonly #compiled = new Map<string, EvaluateLibrary>();
  readonly #remaining = new WeakMap<object, Remaining | RangeError>();
  readonly #results = new WeakMap<object, Map<string, Result>>();
  /** Milliseconds. */
  #time: number = QUERY_LIMITS.fhirpathTime;
  #signal: AbortSignal | undefined;

  constructor(private readonly tables: Pick<Tables, 'types' | 'primitives'>) {}

  /** The execution begins. @param signal aborts when the time of the query is over, or the client is gone */
  begin(signal: AbortSignal | undefined): void {
    this.#signal = signal;
  }

  /**
   * Checks an expression on values of a type. Nothing is evaluated.
   *
   * @throws FhirError `parameter-invalid`
   */
  check(expression: string, type: string): void {
    if (expression === INDEX) return;
    // To load it takes longer than a resource may take.
    library();
    try {
      checkExpression(expression, type, indexRows(this.tables.types, this.tables.primitives));
    } catch (error) {
      if (!(error instanceof ExpressionError)) throw error;
      throw new FhirError('parameter-invalid', `The FHIRPath ${quote(expression)} cannot be used: ${error.message}`);
    }
  }

  /**
   * Whether an expression holds for a value: it finds something, and not `false`.
   *
   * @param root the resource that holds the value
   * @throws FhirError `parameter-invalid` where it fails, `graphql-limit`, `too-costly`
   */
  holds(expression: string, value: JsonObject, type: string, index: number, root: object): boolean {
    const [first] = this.#evaluate(expression, value, type, index, root);
    return first !== undefined && first !== false;
  }

  /** The result of an expression as a text; empty: it finds nothing. @throws FhirError as `holds` */
  textOf(expression: string, value: JsonObject, type: string, index: number, root: object): string {
    const [first] = this.#evaluate(expression, value, type, index, root);
    return first === undefined || typeof first === 'object' ? '' : String(first);
  }

  #evaluate(expression: string, value: JsonObject, type: string, index: number, root: object): readonly unknown[] {
    if (expression === INDEX) return [index];
    const text = atIndex(expression, index);
    const base = value['resourceType'] === undefined ? type : undefined;
    const key = `${base} ${text}`;
    let known = this.#results.get(value);
    if (known === undefined) this.#results.set(value, (known = new Map()));
    let result = known.get(key);
    if (result === undefined)
      known.set(key, (result = this.#find(expression, this.#compile(key, text, base), value, root)));
    if (result instanceof FhirError) throw result;
    return result;
  }

  #compile(key: string, text: string, base: string | undefined): EvaluateLibrary {
    let run = this.#compiled.get(key);
    if (run === undefined) {
      if (this.#compiled.size >= KEPT) this.#compiled.clear();
      this.#compiled.set(key, (run = compileLibrary(text, base)));
    }
    return run;
  }

  #find(expression: string, run: EvaluateLibrary, value: JsonObject, root: object): Result {
    if (this.#signal?.aborted === true) throw new FhirError('too-costly');
    if (this.#time <= 0) {
      const text = `The FHIRPath of the query takes more than ${QUERY_LIMITS.fhirpathTime / 1000} s; use it on fewer resources`;
      throw new FhirError('graphql-limit', text);
    }
    const begun = { at: performance.now(), used: process.cpuUsage() };
    let remaining: Remaining | RangeError | undefined;
    try {
      remaining = this.#remainingOf(root);
      if (remaining instanceof RangeError) throw remaining;
      const { evaluation } = remaining;
      evaluation.begun = begun;
      evaluation.deadline = begun.at + Math.min(remaining.time, this.#time);
      return run(value, evaluation).map((each) => each.value);
    } catch (error) {
      const why = error instanceof Error ? error.message.slice(0, 200) : '';
      return new FhirError('parameter-invalid', `The FHIRPath ${quote(expression)} fails on a value: ${why}`);
    } finally {
      const { user, system } = process.cpuUsage(begun.used);
      const took = Math.min(performance.now() - begun.at, (user + system) / 1000);
      this.#time -= took;
      if (remaining !== undefined && !(remaining instanceof RangeError)) remaining.time -= took;
    }
  }

  #remainingOf(root: object): Remaining | RangeError {
    const remaining = this.#remaining.get(root) ?? begin(root);
    this.#remaining.set(root, remaining);
    return remaining;
  }
}

/** An error where the resource is too large: to find that out for each of its values would take minutes. */
function begin(root: object): Remaining | RangeError {
  try {
    return { evaluation: beginEvaluation(root, OF_RESOURCE), time: OF_RESOURCE.time };
  } catch (error) {
    if (error instanceof RangeError) return error;
    throw error;
  }
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
