import { FhirError } from '../../../fhir/errors.js';
import type { SortKey } from '../../../search/query/query.js';
import type { SortValue } from '../../../search/query/sort.js';
import type { ArmPlace } from './arms.js';
import type { Path } from './compile/index-range.js';
import type { Value } from './compile/sql.js';
import type { Hit } from './hit.js';
import type { Order } from './run.js';
import type { Place, SourceName } from './search.js';

/** A place in an order that was asked for: at a resource, which may be gone by now. */
export interface SortedPlace {
  readonly source: 'sort';
  readonly id: string;
  /** What it was sorted by; null: it had no value. */
  readonly values: readonly (SortValue | null)[];
}

/** Where a walk through the pages is. */
export interface FindCursor {
  readonly place: SortedPlace | Exclude<Place, { readonly source: 'sort' }>;
  /** Of the first page; absent: it gave none. */
  readonly total?: number;
}

/** Tells cursors of the source that drives a search from those of an order, which are older. */
const LAYOUT = 2;

/**
 * The place of a resource as text. Long values are in it whole: what they are cut to would be the place of others too.
 *
 * @param id of the resource
 */
export function writeCursor(source: SourceName, hit: Hit, id: string, total: number | undefined): string {
  return Buffer.from(JSON.stringify(partsOf(source, hit, id, total ?? null))).toString('base64url');
}

function partsOf(
  source: SourceName,
  { key, values, place }: Hit,
  id: string,
  total: number | null,
): readonly unknown[] {
  if (source === 'sort') return [id, total, values.map((value) => value?.map(packed) ?? null)];
  if (source === 'type') return [LAYOUT, total, source, id];
  if (place === undefined) return [LAYOUT, total, source, key];
  return [LAYOUT, total, source, [place.arm(), place.at.map((each) => each.map(packed))]];
}

/** Infinite numbers are none of JSON's: they go as texts in a list. */
function packed(value: Value): unknown {
  if (typeof value === 'string' || Number.isFinite(value)) return value;
  return [value > 0 ? 1 : -1];
}

/** Reads it again. @throws FhirError `page-invalid` for text that is none of this order */
export function readCursor(text: string, { sort, isById }: Order): FindCursor {
  const parts = parse(text);
  const isSorted = isById || sort.length > 0;
  const [first, total, third, place] = parts;
  if (parts.length !== (isSorted ? 3 : 4) || (!isSorted && first !== LAYOUT)) throw invalid();
  if (total !== null && !(Number.isSafeInteger(total) && (total as number) >= 0)) throw invalid();
  const known = total === null ? {} : { total: total as number };
  return { ...known, place: isSorted ? readSorted(first, third, sort) : readPlace(third, place) };
}

function parse(text: string): readonly unknown[] {
  try {
    const value: unknown = JSON.parse(Buffer.from(text, 'base64url').toString());
    if (Array.isArray(value)) return value as readonly unknown[];
  } catch {
    // It is reported below.
  }
  throw invalid();
}

function readSorted(id: unknown, values: unknown, sort: readonly SortKey[]): SortedPlace {
  if (typeof id !== 'string' || !Array.isArray(values) || values.length !== sort.length) throw invalid();
  return { source: 'sort', id, values: sort.map((key, i) => readValue(values[i], key)) };
}

const NUMBERS: ReadonlySet<SortKey['by']> = new Set(['date', 'number', 'quantity', 'updated']);

function readValue(value: unknown, { by }: SortKey): SortValue | null {
  if (value === null) return null;
  if (!Array.isArray(value) || value.length !== (by === 'token' ? 2 : 1)) throw invalid();
  return value.map((part: unknown) => {
    const read = unpacked(part);
    if ((typeof read === 'number') !== NUMBERS.has(by)) throw invalid();
    return read;
  });
}

function unpacked(part: unknown): Value {
  const read = Array.isArray(part) ? Number(part[0]) * Infinity : part;
  if (typeof read === 'string' || (typeof read === 'number' && !Number.isNaN(read))) return read;
  throw invalid();
}

function readPlace(source: unknown, place: unknown): FindCursor['place'] {
  if (source === 'type') {
    if (typeof place !== 'string') throw invalid();
    return { source, after: { key: 0, id: place, values: [] } };
  }
  const [way, path] = listOf(source, 2);
  if (way === 'keys') {
    if (!Number.isSafeInteger(place)) throw invalid();
    return { source: ['keys', readPath(path)], after: { key: place as number, values: [] } };
  }
  if (way !== 'arms') throw invalid();
  const [arm, at] = listOf(place, 2);
  const [index, count, name] = listOf(arm, 3);
  const isArm = Number.isSafeInteger(index) && Number.isSafeInteger(count) && typeof name === 'string';
  if (!isArm || (index as number) < 0 || !Array.isArray(at)) throw invalid();
  const places: ArmPlace = {
    arm: [index as number, count as number, name],
    at: at.map((each: unknown) => listOf(each).map(unpacked)),
  };
  return { source: ['arms', readPath(path)], at: places };
}

function readPath(value: unknown): Path {
  if (Number.isSafeInteger(value) || value === 'between') return value as Path;
  return listOf(value).map(readPath);
}

function listOf(value: unknown, length?: number): readonly unknown[] {
  if (!Array.isArray(value) || (length !== undefined && value.length !== length)) throw invalid();
  return value as readonly unknown[];
}

function invalid(): FhirError {
  return new FhirError('page-invalid');
}
