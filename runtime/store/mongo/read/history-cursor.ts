import { FhirError } from '../../../fhir/errors.js';
import type { HistoryPlace } from '../place.js';
import type { ClusterTime } from './batch.js';

/** Cursor of a history: what is kept between its pages. All of it was found on the first page's snapshot. */
export interface HistoryCursor {
  /** Place of the last version shown. */
  readonly last: HistoryPlace;
  readonly time: ClusterTime;
  readonly total: number;
  readonly complete: number;
}

/** The cursor as short text. */
export function writeHistoryCursor({ last, time, total, complete }: HistoryCursor): string {
  const numbers = [total, complete, time.seconds, time.increment];
  return `${writePlace(last)}~${numbers.map((number) => number.toString(36)).join('.')}`;
}

/** Reads the text again. @throws FhirError for text that is none */
export function readHistoryCursor(text: string): HistoryCursor {
  const [, place = '', numbers = ''] = /^(.+)~([0-9a-z]{1,11}(?:\.-?[0-9a-z]{1,11}){3})$/s.exec(text) ?? [];
  const [total, complete, seconds, increment] = numbers.split('.').map((part) => parseInt(part, 36));
  if (total === undefined || complete === undefined || seconds === undefined || increment === undefined) throw none();
  return { last: readPlace(place), time: { seconds, increment }, total, complete };
}

/** A place as text. */
export function writePlace({ updated, n, type, id }: HistoryPlace): string {
  return `${updated.toString(36)}.${n.toString(36)}.${type}/${id}`;
}

/** Reads the text again. @throws FhirError for text that is none */
export function readPlace(text: string): HistoryPlace {
  const [, updated, n, type, id] = /^(-?[0-9a-z]{1,11})\.([0-9a-z]{1,6})\.([^/]+)\/(.+)$/s.exec(text) ?? [];
  if (updated === undefined || n === undefined || type === undefined || id === undefined) throw none();
  return { updated: parseInt(updated, 36), n: parseInt(n, 36), type, id };
}

function none(): FhirError {
  return new FhirError('parameter-invalid', 'This is no page of a history');
}
