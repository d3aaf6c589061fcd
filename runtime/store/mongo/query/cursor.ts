import { FhirError } from '../../../fhir/errors.js';
import type { Order, OrderValue } from './compile/order.js';

/** Where a walk through the pages of a search is. */
export interface FindCursor {
  /** Id of the last resource shown. */
  readonly id: string;
  /** What it was sorted by, one value for each key; null: it has none. */
  readonly values: readonly (OrderValue | null)[];
  /** The total of the first page; absent: it had none. */
  readonly total?: number;
}

/** The cursor as short text. */
export function writeFindCursor({ id, values, total }: FindCursor): string {
  return JSON.stringify([id, total ?? null, ...values]);
}

/** Reads the text again. @throws FhirError `page-invalid` for text that is no place in this order */
export function readFindCursor(text: string, order: Order): FindCursor {
  const parts = parse(text);
  if (!Array.isArray(parts)) throw none();
  const [id, total, ...values] = parts as unknown[];
  if (typeof id !== 'string' || values.length !== order.keys.length) throw none();
  if (total !== null && !(Number.isSafeInteger(total) && Number(total) >= 0)) throw none();
  if (!values.every((value, i) => value === null || order.keys[i]!.isValue(value))) throw none();
  return { id, values: values as OrderValue[], ...(total !== null && { total: Number(total) }) };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

function none(): FhirError {
  return new FhirError('page-invalid');
}
