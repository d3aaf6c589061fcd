import type { Resource } from '../../fhir/resource.js';
import { TooCostly } from '../../path/evaluate/environment.js';
import { beginEvaluation, type Evaluation, type EvaluationLimits } from '../../path/library/evaluate.js';
import { memoizeWeak } from '../../fhir/memory/memoize.js';

/** Values that the rules on one resource may look at in our own evaluator, however small it is. */
const BASE = 200_000;
/** The same for each value in the resource: rules whose work is in proportion to its size are never too costly. */
const FOR_EACH = 20;
/** What rules on one resource may cost in the FHIRPath library. The time is the last resort only: how much it is depends on the machine. */
const LIBRARY: EvaluationLimits = { values: 200_000, steps: 100_000, allSteps: 300_000, forEach: 8, time: 5000 };
/** Values that the rules of one request may look at: some seconds of work, of which each resource is a turn. */
const REQUEST = 20_000_000;
/** Values of our own evaluator that take as long as a step of the library. */
const STEP = 5;

interface RequestEffort {
  left: number;
}

/**
 * Returns the effort that the rules of a request may still take, those of all entries of a Bundle together. The key is an
 * object that the request has for itself: its signal.
 */
export const requestEffort = memoizeWeak((_request: object): RequestEffort => ({ left: REQUEST }));

/**
 * Effort that the rules on one resource may still take. It is counted in values that are looked at, so that it is the same on
 * each machine.
 */
export class RuleEffort {
  private left = BASE;
  private isExtended = false;
  /** An error: why the library cannot look at the resource. To find that out costs as much as a resource that it can. */
  private evaluation: Evaluation | TooCostly | undefined;

  constructor(
    private readonly resource: Resource,
    private readonly request: RequestEffort,
  ) {}

  /**
   * Evaluates a rule in our own evaluator.
   *
   * @param evaluate is given a budget, and returns what it found and what is left
   * @throws TooCostly
   */
  own<T>(evaluate: (budget: number) => { readonly found: T; readonly left: number }): T {
    this.checkRequest();
    try {
      return this.attempt(evaluate);
    } catch (error) {
      if (!(error instanceof TooCostly)) throw error;
      if (!this.isExtended) {
        this.isExtended = true;
        this.left += FOR_EACH * countValues(this.resource);
        return this.own(evaluate);
      }
      throw new TooCostly(`the rules look at too many values: more than ${BASE.toLocaleString('en')}, and ${FOR_EACH} for each that the resource has`); // prettier-ignore
    }
  }

  private attempt<T>(evaluate: (budget: number) => { readonly found: T; readonly left: number }): T {
    const before = this.left;
    const { found, left } = evaluate(before);
    // Rules that this one asked for have been counted meanwhile.
    this.request.left -= before - left;
    this.left -= before - left;
    return found;
  }

  /** Evaluates a rule in the FHIRPath library. @throws TooCostly */
  library<T>(evaluate: (evaluation: Evaluation) => T): T {
    this.checkRequest();
    const evaluation = (this.evaluation ??= begin(this.resource));
    if (evaluation instanceof TooCostly) throw evaluation;
    const before = evaluation.steps;
    try {
      return evaluate(evaluation);
    } finally {
      this.request.left -= STEP * (before - evaluation.steps);
    }
  }

  private checkRequest(): void {
    if (this.request.left < 0) {
      throw new TooCostly(`the rules of the request look at more than ${REQUEST.toLocaleString('en')} values together`);
    }
  }
}

function begin(resource: Resource): Evaluation | TooCostly {
  try {
    return beginEvaluation(resource, LIBRARY);
  } catch (error) {
    if (error instanceof TooCostly) return error;
    throw error;
  }
}

function countValues(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 1;
  let count = 1;
  for (const each of Object.values(value)) count += countValues(each);
  return count;
}
