import { FhirError } from '../fhir/errors.js';
import type { Yield } from '../fhir/yield-to-event-loop.js';
import { yieldUntil } from '../fhir/yield-until.js';
import { ancestorsOf, descendantsOf, type CodeSystemIndex } from './concepts.js';

/** Steps that one question may take; a million take some tenths of a second. */
const MOST_STEPS = 3_000_000;

/** Codes in closures that are kept for the question. */
const KEPT = 200_000;

/** Characters of text that are searched in a step. */
const TEXT_STEP = 500;

type Way = 'above' | 'below';

/** Cost of one question to the terminology service, and the closures that were computed for it. */
export class Effort {
  /** Lets other requests have their turn. @throws FhirError where no client waits for the answer any more */
  readonly pace: Yield;
  private left = MOST_STEPS;
  private kept = 0;
  private readonly closures = new Map<CodeSystemIndex, Map<string, ReadonlySet<string>>>();

  /** @param signal aborts when no client waits for the answer any more */
  constructor(signal?: AbortSignal) {
    this.pace = yieldUntil(signal);
  }

  /**
   * Counts steps: a concept that is tested, a code that is added to a set.
   *
   * @throws FhirError `expansion-too-costly` where the question has taken more than it may
   */
  spend(steps: number): void {
    this.left -= steps;
    if (this.left < 0) throw new FhirError('expansion-too-costly', 'The question takes too much work: its parameters, value sets and code systems have too many codes, filters and texts together'); // prettier-ignore
  }

  /** Counts the characters of a text that is searched or compared. @throws FhirError `expansion-too-costly` */
  spendText(length: number): void {
    this.spend(1 + length / TEXT_STEP);
  }

  /**
   * Does something with each of many: counts it, and lets other requests have their turn.
   *
   * @param cost steps of one
   * @throws FhirError `expansion-too-costly`
   */
  async forEach<T>(
    items: Iterable<T>,
    work: (item: T) => void,
    cost: number | ((item: T) => number) = 1,
  ): Promise<void> {
    for (const item of items) {
      // Hardly ever: to wait for nothing takes longer than most of the work.
      const turn = this.pace();
      if (turn !== undefined) await turn;
      this.spend(typeof cost === 'number' ? cost : cost(item));
      work(item);
    }
  }

  /** Codes above or below a concept, without itself. Each closure is computed once. @throws FhirError `expansion-too-costly` */
  closure(way: Way, system: CodeSystemIndex, code: string): ReadonlySet<string> {
    const own = this.closures.get(system) ?? new Map<string, ReadonlySet<string>>();
    this.closures.set(system, own);
    const key = `${way} ${code}`;
    const before = own.get(key);
    if (before !== undefined) return before;
    const found = (way === 'above' ? ancestorsOf : descendantsOf)(system, code, this);
    this.kept += found.size;
    if (this.kept <= KEPT) own.set(key, found);
    return found;
  }
}
