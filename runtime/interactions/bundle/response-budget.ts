import { FhirError } from '../../fhir/errors.js';

/** How much larger than a request the answers of its entries may be together. */
const TIMES = 2;

/** What the answers of entries may take together: they are in memory until all are there. */
export interface AnswerRoom {
  /** @throws FhirError where an answer does not fit any more */
  take(answer: string): string;
  /** @throws FhirError where nothing fits any more */
  check(): void;
}

/** @param limit greatest size of a body, in bytes */
export function openAnswerRoom(limit: number): AnswerRoom {
  let left = TIMES * limit;
  const check = (): void => {
    if (left < 0) {
      throw new FhirError('too-costly', 'The answers of the entries before are too large together; ask by themselves');
    }
  };
  return {
    check,
    take(answer) {
      left -= answer.length;
      check();
      return answer;
    },
  };
}
