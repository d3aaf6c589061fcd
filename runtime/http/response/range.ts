import { FhirError } from '../../fhir/errors.js';

/** Bytes from the first to the last, both included. */
export interface ByteRange {
  readonly from: number;
  readonly to: number;
}

/**
 * The part of a content that a `Range` header asks for; undefined: all of it. Several ranges at once, and units other
 * than bytes, are ignored, as RFC 9110, 14.2 allows.
 *
 * @throws FhirError `range-not-satisfiable`
 */
export function readRange(header: string | undefined, size: number): ByteRange | undefined {
  const [, first = '', last = ''] = /^bytes=\s*([0-9]{0,15})-([0-9]{0,15})\s*$/i.exec(header ?? '') ?? [];
  if (first === '' && last === '') return undefined;
  if (first === '') {
    const length = Math.min(Number(last), size);
    if (length === 0) throw unsatisfiable(size);
    return { from: size - length, to: size - 1 };
  }
  const from = Number(first);
  const to = last === '' ? size - 1 : Math.min(Number(last), size - 1);
  // An interval that runs backwards is no range at all.
  if (last !== '' && Number(last) < from) return undefined;
  if (from >= size) throw unsatisfiable(size);
  return { from, to };
}

/** Whether a `Range` still holds: the client's part is of this version. Dates are too coarse to tell. RFC 9110, 13.1.5 */
export function rangeHolds(ifRange: string | undefined, versionId: string | undefined): boolean {
  return ifRange === undefined || /^(?:W\/)?"([^"]*)"$/.exec(ifRange.trim())?.[1] === versionId;
}

function unsatisfiable(size: number): FhirError {
  return new FhirError('range-not-satisfiable', `The content has ${size} bytes`, {
    headers: { 'Content-Range': `bytes */${size}` },
  });
}
