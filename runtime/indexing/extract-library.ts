import { beginEvaluation, compileLibrary, type Evaluation } from '../path/library/evaluate.js';
import type { Visit } from '../path/visit.js';
import type { Harvest } from './values/converter.js';
import { memoize } from '../fhir/memory/memoize.js';

/**
 * Makes the visit of values of a type; undefined: the type is not known from the path. It is called once for each type.
 */
export type LibraryEnd = (type: string | undefined) => Visit<Harvest>;

/**
 * Makes the visit of the values that an expression finds by the FHIRPath library, which throws where that fails.
 *
 * @param base the type that the expression starts from, where that is a part of a resource
 */
export function libraryVisit(text: string, end: LibraryEnd, base?: string): Visit<Harvest> {
  const run = compileLibrary(text, base);
  const endOf = memoize(end);
  return (value, harvest) => {
    if (typeof value !== 'object' || value === null) return;
    for (const { value: each, type } of run(value, evaluationOf(harvest))) endOf(type)(each, harvest);
  };
}

/** @throws RangeError where the resource is too large */
function evaluationOf(harvest: Harvest): Evaluation {
  if (harvest.evaluation === 'failed') throw new RangeError('the resource is too large');
  if (harvest.evaluation !== undefined) return harvest.evaluation;
  harvest.evaluation = 'failed';
  return (harvest.evaluation = beginEvaluation(harvest.resource));
}
