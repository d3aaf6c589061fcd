import { memoize } from '../fhir/memory/memoize.js';
import { compileExpression } from '../path/evaluate/compile-expression.js';
import type { Evaluate } from '../path/evaluate/function-types.js';
import { beginEvaluation, evaluateOn, fhirTypeOf } from '../path/evaluate/evaluate-on.js';
import type { Schema } from '../path/evaluate/schema.js';
import type { Visit } from '../path/visit.js';
import type { Harvest } from './values/converter.js';

/** Values that the expressions of stored parameters may look at on one resource: some tenths of a second of work. */
const BUDGET = 1_000_000;

/**
 * Makes the visit of values of a type; undefined: the type is not known from the path. It is called once for each type.
 */
export type EndOfType = (type: string | undefined) => Visit<Harvest>;

/**
 * Makes the visit of the values that an expression finds which is no path: it throws where the expression fails.
 *
 * @param base the type that the expression starts from, where that is a part of a resource
 */
export function evaluatedVisit(text: string, end: EndOfType, schema: Schema, base = ''): Visit<Harvest> {
  let evaluate: Evaluate | undefined;
  const endOf = memoize(end);
  return (value, harvest) => {
    if (typeof value !== 'object' || value === null) return;
    harvest.evaluation ??= beginEvaluation(harvest.resource, schema, BUDGET);
    evaluate ??= compileExpression(text);
    for (const item of evaluateOn(evaluate, value, base, harvest.evaluation)) {
      endOf(fhirTypeOf(item))(item.value, harvest);
    }
  };
}
