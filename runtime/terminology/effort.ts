import { FhirError } from '../fhir/errors.js';
import { ancestorsOf, descendantsOf, type CodeSystemIndex } from './concepts.js';

/** Steps that one question may take; a million take some tenths of a second. */
const MOST_STEPS = 3_000_000;

/** Codes in closures that are kept for the question. */
const KEPT = 200_000;

type Way = 'above' | 'below';

/** What one question to the terminology service has cost, and the closures that it has computed. */
export class Effort {
  private left = MOST_STEPS;
  private kept = 0;
  private readonly closures = new Map<CodeSystemIndex, Map<string, ReadonlySet<string>>>();

  /**
   * Counts steps: a concept that is tested, a code that is added to a set.
   *
   * @throws FhirError `expansion-too-costly` where the question has taken more than it may
   */
  spend(steps: number): void {
    this.left -= steps;
    if (this.left < 0) throw new FhirError('expansion-too-costly', 'The question takes too much work: its value sets and code systems have too many filters and codes'); // prettier-ignore
  }

  /** Codes above or below a concept, without itself. Each closure is computed once. @throws FhirError `expansion-too-costly` */
  closure(way: Way, system: CodeSystemIndex, code: string): ReadonlySet<string> {
    const own = this.closures.get(system) ?? new Map<string, ReadonlySet<string>>();
    this.closures.set(system, own);
    const key = `${way} ${code}`;
    const before = own.get(key);
    if (before !== undefined) return before;
    const found = (way === 'above' ? ancestorsOf : descendantsOf)(system, code);
    this.spend(found.size);
    this.kept += found.size;
    if (this.kept <= KEPT) own.set(key, found);
    return found;
  }
}
