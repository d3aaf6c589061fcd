import type { Resource } from '../../fhir/resource.js';
import { beginEvaluation, compileLibrary, type EvaluateLibrary, type Evaluation } from '../../path/library/evaluate.js';
import type { FhirTypes } from './fhir-types.js';
import type { ProfileDeps } from './profile-deps.js';

/** Compiled expressions that are kept; those of stored definitions come and go. */
const KEPT = 2000;

/**
 * Evaluates rules of profiles with the FHIRPath library. A rule that finds nothing holds: `$this as dateTime` says nothing about a
 * Period. One that fails, takes too long, or asks for what is not here cannot be decided.
 */
export function createRuleEvaluator(types: FhirTypes): () => ProfileDeps['evaluate'] {
  const compiled = new Map<string, EvaluateLibrary>();
  const compile = (expression: string, base: string | undefined): EvaluateLibrary => {
    const key = `${base ?? ''} ${expression}`;
    let found = compiled.get(key);
    if (found === undefined) {
      if (compiled.size >= KEPT) compiled.clear();
      compiled.set(key, (found = compileLibrary(expression, base)));
    }
    return found;
  };
  // One for each validation: what its rules cost together is bounded.
  return () => {
    const begun = new Map<Resource, Evaluation>();
    return (expression, { value, type }, resource) => {
      try {
        let evaluation = begun.get(resource);
        if (evaluation === undefined) begun.set(resource, (evaluation = beginEvaluation(resource)));
        const base = types.kindOf(type) === 'resource' ? undefined : type;
        const found = compile(expression, base)(value as object, evaluation);
        return found.length === 1 && found[0]?.value === false ? false : true;
      } catch {
        return undefined;
      }
    };
  };
}
