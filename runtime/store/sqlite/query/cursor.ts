import { FhirError } from '../../../fhir/errors.js';
import type { SortKey } from '../../../search/query/query.js';
import type { SortValue } from '../../../search/query/sort.js';

/** Where a walk through the pages is: at its last resource, which may be gone by now. */
export interface FindCursor {
  readonly id: string;
  /** What it was sorted by; null: it had no value. */
  readonly values: readonly (SortValue | null)[];
  /** Of the first page; absent: it gave none. */
  readonly total?: number;
}

/** The cursor as text. Long values are in it whole: what they are cut to would be the place of others too. */
export function writeCursor({ id, values, total }: FindCursor): string {
  const packed = values.map(
    (value) => value?.map((part) => (typeof part === 'string' ? part : packNumber(part))) ?? null,
  );
  return Buffer.from(JSON.stringify([id, total ?? null, packed])).toString('base64url');
}

/** Infinite numbers are none of JSON's: they go as texts in a list. */
function packNumber(value: number): unknown {
  return Number.isFinite(value) ? value : [value > 0 ? 1 : -1];
}

/** Reads it again. @throws FhirError `page-invalid` for text that is none of these keys */
export function readCursor(text: string, sort: readonly SortKey[]): FindCursor {
  const [id, total, values] = parse(text);
  if (typeof id !== 'string' || !Array.isArray(values) || values.length !== sort.length) throw invalid();
  if (total !== null && !(Number.isSafeInteger(total) && (total as number) >= 0)) throw invalid();
  const read = sort.map((key, i) => readValue(values[i], key));
  return { id, values: read, ...(total !== null && { total: total as number }) };
}

function parse(text: string): readonly unknown[] {
  try {
    const value: unknown = JSON.parse(Buffer.from(text, 'base64url').toString());
    if (Array.isArray(value) && value.length === 3) return value as readonly unknown[];
  } catch {
    // It is reported below.
  }
  throw invalid();
}

const NUMBERS: ReadonlySet<SortKey['by']> = new Set(['date', 'number', 'quantity', 'updated']);

function readValue(value: unknown, { by }: SortKey): SortValue | null {
  if (value === null) return null;
  if (!Array.isArray(value) || value.length !== (by === 'token' ? 2 : 1)) throw invalid();
  return value.map((part: unknown) => {
    const read = Array.isArray(part) ? Number(part[0]) * Infinity : part;
    const isFit = NUMBERS.has(by) ? typeof read === 'number' && !Number.isNaN(read) : typeof read === 'string';
    if (!isFit) throw invalid();
    return read as string | number;
  });
}

function invalid(): FhirError {
  return new FhirError('page-invalid');
}
