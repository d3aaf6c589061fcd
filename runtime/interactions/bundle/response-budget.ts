import { FhirError } from '../../fhir/errors.js';

/** Greatest total size of the answers to entries, as a multiple of the limit for bodies. */
const TIMES = 2;

/** Size budget for the answers to all entries, which are in memory until the last one is complete. */
export interface AnswerRoom {
  /** Counts an answer and returns it. @throws FhirError `too-costly` if it exceeds the budget */
  take(answer: string): string;
  /** @throws FhirError `too-costly` if the budget is used up */
  check(): void;
}

/** Opens a budget. @param limit greatest size of a body, in bytes */
export function openAnswerRoom(limit: number): AnswerRoom {
  let remaining = TIMES * limit;
  const check = (): void => {
    if (remaining < 0) {
      throw new FhirError('too-costly', 'The answers of the entries before are too large together; ask by themselves');
    }
  };
  return {
    check,
    take(answer) {
      remaining -= answer.length;
      check();
      return answer;
    },
  };
}
