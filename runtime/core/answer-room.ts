import { FhirError } from '../fhir/errors.js';

/** Size budget of what an answer holds, which is in memory until it is complete. */
export interface AnswerRoom {
  /** Counts a text and returns it. @throws FhirError `too-costly` if it exceeds the budget */
  take(text: string): string;
  /** @throws FhirError `too-costly` if the budget is used up */
  check(): void;
}

/** Room for the resources of an answer that is not given in pages: as much as two pages of a search have. In characters. */
export const ANSWER_ROOM = 32 * 1024 * 1024;

/**
 * Opens a budget.
 *
 * @param characters there may be in all
 * @param text what the client learns where there are more
 */
export function openAnswerRoom(characters: number, text: string): AnswerRoom {
  let remaining = characters;
  const check = (): void => {
    if (remaining < 0) throw new FhirError('too-costly', text);
  };
  return {
    check,
    take(taken) {
      remaining -= taken.length;
      check();
      return taken;
    },
  };
}
