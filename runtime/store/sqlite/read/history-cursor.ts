import { FhirError } from '../../../fhir/errors.js';

/** Cursor of a history: what is kept between its pages. All of it was found on the first page's snapshot. */
export interface HistoryCursor {
  /** Place of the last version shown: its `seq`. */
  readonly last: number;
  /** Versions at or before this `seq` are too old, unless they were current at `from`. */
  readonly floor: number;
  /** Versions at or before this `seq` are before the interval of `at`; they count if none of these came after them. */
  readonly from: number;
  readonly total: number;
  readonly complete: number;
}

/** The cursor as short text. */
export function writeHistoryCursor({ last, floor, from, total, complete }: HistoryCursor): string {
  return [last, floor, from, total, complete].map((number) => number.toString(36)).join('.');
}

const FORM = /^[0-9a-z]{1,11}(?:\.[0-9a-z]{1,11}){4}$/;

/** Reads the text again. @throws FhirError for text that is none */
export function readHistoryCursor(text: string): HistoryCursor {
  if (!FORM.test(text)) throw new FhirError('parameter-invalid', 'This is no page of a history');
  const [last = 0, floor = 0, from = 0, total = 0, complete = 0] = text.split('.').map((part) => parseInt(part, 36));
  return { last, floor, from, total, complete };
}
