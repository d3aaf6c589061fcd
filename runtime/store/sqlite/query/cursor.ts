import { FhirError } from '../../../fhir/errors.js';
import type { SortKey } from '../../../search/query/query.js';
import type { SortValue } from '../../../search/query/sort.js';
import type { Path } from './compile/index-range.js';
import type { Value } from './compile/sql.js';
import type { ArmPlace, Hit } from './hit.js';
import type { Place, SourceName } from './search.js';

/** Where a walk through the pages is. */
export interface FindCursor {
  readonly place: Place;
  /** Of the first page; absent: it gave none. */
  readonly total?: number;
}

/** Tells these cursors from older ones. */
const LAYOUT = 2;

/** The place of a resource as text. Long values are in it whole: what they are cut to would be the place of others too. */
export function writeCursor(source: SourceName, hit: Hit, total: number | undefined): string {
  const parts = [LAYOUT, total ?? null, source, ...placeOf(source, hit)];
  return Buffer.from(JSON.stringify(parts)).toString('base64url');
}

function placeOf(source: SourceName, { key, values, place }: Hit): readonly unknown[] {
  if (source === 'sort') return [key, values.map((value) => value?.map(packed) ?? null)];
  return [place === undefined ? key : [place.arm(), place.at.map((each) => each.map(packed))]];
}

/** Infinite numbers are none of JSON's: they go as texts in a list. */
function packed(value: Value): unknown {
  if (typeof value === 'string' || Number.isFinite(value)) return value;
  return [value > 0 ? 1 : -1];
}

/** Reads it again. @param sort as in `Run` @throws FhirError `page-invalid` for text that is none of this order */
export function readCursor(text: string, sort: readonly SortKey[]): FindCursor {
  const [layout, total, source, place, values] = parse(text);
  if (layout !== LAYOUT || (source === 'sort') !== sort.length > 0) throw invalid();
  if (total !== null && !(Number.isSafeInteger(total) && (total as number) >= 0)) throw invalid();
  const known = total === null ? {} : { total: total as number };
  return { ...known, place: source === 'sort' ? readSorted(place, values, sort) : readPlace(source, place) };
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

function readSorted(key: unknown, list: unknown, sort: readonly SortKey[]): Place {
  const values = listOf(list, sort.length);
  return { source: 'sort', after: { key: readKey(key), values: sort.map((each, i) => readValue(values[i], each)) } };
}

function readKey(key: unknown): number {
  if (!Number.isSafeInteger(key)) throw invalid();
  return key as number;
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

function readPlace(source: unknown, place: unknown): Place {
  if (source === 'type') return { source, after: { key: readKey(place), values: [] } };
  const [way, path] = listOf(source, 2);
  if (way === 'keys') return { source: ['keys', readPath(path)], after: { key: readKey(place), values: [] } };
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
