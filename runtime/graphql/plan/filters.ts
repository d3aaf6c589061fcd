import type { Tables } from '../../contract/tables.js';
import { FhirError } from '../../fhir/errors.js';
import type { JsonObject } from '../../fhir/resource.js';
import { memoize } from '../../fhir/memory/memoize.js';
import { compileParsed } from '../../path/evaluate/compile-expression.js';
import type { Environment } from '../../path/evaluate/environment.js';
import { beginEvaluation, evaluateOn } from '../../path/evaluate/evaluate-on.js';
import { createSchema, type Schema } from '../../path/evaluate/schema.js';
import { ExpressionError } from '../../path/expression/expression-error.js';
import { indexRows } from '../../path/expression/type-index.js';
import { checkExpression, parseLimited } from '../../path/expression/check.js';
import { QUERY_LIMITS } from '../limits.js';
import { quote } from '../../fhir/quote.js';

/** Values that the expressions of a query may look at on one resource: nothing else is done meanwhile. */
const OF_RESOURCE = 100_000;

/** What was found before, or why nothing was. */
type Result = readonly unknown[] | FhirError;

/**
 * The FHIRPath expressions of one query: those of `fhirpath` arguments and of `@slice`. All of them share one limit. The result of an
 * expression on a value is kept, so that it can be found where others have their turn, and used where they have none.
 */
export class Filters {
  readonly #compiled = memoize((text: string) => compileParsed(parseLimited(text)));
  readonly #environments = new WeakMap<object, Environment>();
  readonly #results = new WeakMap<object, Map<string, Result>>();
  readonly #schema: Schema;
  /** Values that may still be looked at. */
  #left: number = QUERY_LIMITS.fhirpathValues;
  #signal: AbortSignal | undefined;

  constructor(tables: Pick<Tables, 'types' | 'primitives'>) {
    this.#schema = createSchema(indexRows(tables.types, tables.primitives));
  }

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
    try {
      checkExpression(expression, type, this.#schema.types);
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
    // What it finds depends on the position where that is a part of it.
    const key = `${type} ${expression.includes('$index') ? index : ''} ${expression}`;
    let known = this.#results.get(value);
    if (known === undefined) this.#results.set(value, (known = new Map()));
    let result = known.get(key);
    if (result === undefined) known.set(key, (result = this.#find(expression, value, type, index, root)));
    if (result instanceof FhirError) throw result;
    return result;
  }

  #find(expression: string, value: JsonObject, type: string, index: number, root: object): Result {
    if (this.#signal?.aborted === true) throw new FhirError('too-costly');
    if (this.#left <= 0) {
      const most = QUERY_LIMITS.fhirpathValues.toLocaleString('en');
      throw new FhirError('graphql-limit', `The FHIRPath of the query looks at more than ${most} values; use it on fewer resources`); // prettier-ignore
    }
    let environment = this.#environments.get(root);
    if (environment === undefined) {
      environment = beginEvaluation(root, this.#schema, OF_RESOURCE);
      this.#environments.set(root, environment);
    }
    const before = environment.budget;
    environment.index = index;
    try {
      return evaluateOn(this.#compiled(expression), value, type, environment).map((each) => each.value);
    } catch (error) {
      const why = error instanceof Error ? error.message.slice(0, 200) : '';
      return new FhirError('parameter-invalid', `The FHIRPath ${quote(expression)} fails on a value: ${why}`);
    } finally {
      // To begin costs, too.
      this.#left -= 1 + before - environment.budget;
    }
  }
}
