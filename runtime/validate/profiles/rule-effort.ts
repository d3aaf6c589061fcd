import type { Resource } from '../../fhir/resource.js';
import { TooCostly } from '../../path/evaluate/environment.js';
import { memoizeWeak } from '../../fhir/memory/memoize.js';

/** Values that the rules on one resource may look at, however small it is. */
const BASE = 200_000;
/** The same for each value in the resource: rules whose work is in proportion to its size are never too costly. */
const FOR_EACH = 20;
/** Values that the rules of one request may look at: some seconds of work, of which each resource is a turn. */
const REQUEST = 20_000_000;

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

  constructor(
    private readonly resource: Resource,
    private readonly request: RequestEffort,
  ) {}

  /**
   * Evaluates a rule.
   *
   * @param evaluate is given a budget, and returns what it found and what is left
   * @throws TooCostly
   */
  evaluate<T>(evaluate: (budget: number) => { readonly found: T; readonly left: number }): T {
    this.checkRequest();
    try {
      return this.attempt(evaluate);
    } catch (error) {
      if (!(error instanceof TooCostly)) throw error;
      if (!this.isExtended) {
        this.isExtended = true;
        this.left += FOR_EACH * countValues(this.resource);
        return this.evaluate(evaluate);
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

  private checkRequest(): void {
    if (this.request.left < 0) {
      throw new TooCostly(`the rules of the request look at more than ${REQUEST.toLocaleString('en')} values together`);
    }
  }
}

function countValues(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 1;
  let count = 1;
  for (const each of Object.values(value)) count += countValues(each);
  return count;
}
