import { FhirError } from '../fhir/errors.js';

/** Size budget of what an answer holds, which is in memory until it is complete. */
export interface AnswerRoom {
  /** Counts a text and returns it. @throws FhirError `too-costly` if it exceeds the budget */
  take(text: string): string;
  /** @throws FhirError `too-costly` if the budget is used up */
  check(): void;
}

/** Room of one page, after which it ends early; in characters. */
export const PAGE_ROOM = 16 * 1024 * 1024;

/** Room for the resources of an answer that is not given in pages. */
export const ANSWER_ROOM = 2 * PAGE_ROOM;

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
