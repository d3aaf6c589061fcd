import { FhirError } from '../../fhir/errors.js';
import type { SortKey } from '../../search/query/query.js';
import type { SortValue } from '../../search/query/sort.js';
import type { ArmName } from './arm-names.js';

/**
 * Which of several ranges were chosen where there was a choice, so that a later page goes on in the same ones: of each leaf the indexes
 * of its alternatives, of what has to be fulfilled together the places of what drives, and how that is found.
 */
export type Path = number | 'between' | readonly Path[];

/** Returns the parts of a path that has any; of another none. */
export function partsOf(path: Path): readonly Path[] {
  return typeof path === 'object' ? path : [];
}

/** The source whose order a page and those after it have: ranges of indexes, gone through or collected; all of the type; or a sort. */
export type SourceName = readonly ['arms' | 'keys', Path] | 'type' | 'sort';

type Value = string | number;

/** The place of a row in the ranges of a source. */
export interface ArmPlace {
  readonly arm: ArmName;
  /** Values of the columns by which the rows of each level are in order. */
  readonly at: readonly (readonly Value[])[];
}

/** A place in an order: at a resource, which may be gone by now. @template K how the store names resources */
export interface Placed<K extends Value> {
  readonly key: K;
  /** What it is sorted by; null: it has no value. */
  readonly values: readonly (SortValue | null)[];
}

/** The place where a page begins. */
export type CursorPlace<K extends Value> =
  | { readonly source: readonly ['arms', Path]; readonly at: ArmPlace }
  | { readonly source: readonly ['keys', Path]; readonly after: Placed<K> }
  | { readonly source: 'type'; readonly after: Placed<K> }
  | { readonly source: 'sort'; readonly after: Placed<K> };

/** The state of a walk through pages. */
export interface FindCursor<K extends Value> {
  readonly place: CursorPlace<K>;
  /** Total of the first page; absent: it gave none. */
  readonly total?: number;
}

/** The last resource of a page. */
export interface Last<K extends Value> extends Placed<K> {
  /** Where it is in the ranges that were gone through; absent: it was found otherwise. */
  readonly place?: { readonly arm: () => ArmName; readonly at: ArmPlace['at'] };
}

/** Tells these cursors from older ones. */
const LAYOUT = 2;

/** The place of a resource as text. Long values are in it whole: what they are cut to would be the place of others too. */
export function writeCursor<K extends Value>(source: SourceName, last: Last<K>, total: number | undefined): string {
  const parts = [LAYOUT, total ?? null, source, ...placeOf(source, last)];
  return Buffer.from(JSON.stringify(parts)).toString('base64url');
}

function placeOf<K extends Value>(source: SourceName, { key, values, place }: Last<K>): readonly unknown[] {
  if (source === 'sort') return [key, values.map((value) => value?.map(packed) ?? null)];
  return [place === undefined ? key : [place.arm(), place.at.map((each) => each.map(packed))]];
}

/** Infinite numbers are none of JSON's: they go as texts in a list. */
function packed(value: Value): unknown {
  if (typeof value === 'string' || Number.isFinite(value)) return value;
  return [value > 0 ? 1 : -1];
}

/** A test whether a value is how the store names a resource. */
type IsKey<K extends Value> = (value: unknown) => value is K;

/**
 * Reads it again.
 *
 * @param sort keys of the order that was asked for; undefined: none was
 * @throws FhirError `page-invalid` for text that is none of this order
 */
export function readCursor<K extends Value>(
  text: string,
  sort: readonly SortKey[] | undefined,
  isKey: IsKey<K>,
): FindCursor<K> {
  const [layout, total, source, place, values] = parse(text);
  if (layout !== LAYOUT || (source === 'sort') !== (sort !== undefined)) throw invalid();
  if (total !== null && !(Number.isSafeInteger(total) && (total as number) >= 0)) throw invalid();
  const known = total === null ? {} : { total: total as number };
  return {
    ...known,
    place: sort === undefined ? readPlace(source, place, isKey) : readSorted(place, values, sort, isKey),
  };
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

function readSorted<K extends Value>(
  key: unknown,
  list: unknown,
  sort: readonly SortKey[],
  isKey: IsKey<K>,
): CursorPlace<K> {
  const values = listOf(list, sort.length).map((value, i) => readValue(value, sort[i]!));
  return { source: 'sort', after: { key: readKey(key, isKey), values } };
}

function readKey<K extends Value>(key: unknown, isKey: IsKey<K>): K {
  if (!isKey(key)) throw invalid();
  return key;
}

const NUMBERS: ReadonlySet<SortKey['by']> = new Set(['date', 'number', 'quantity', 'updated']);

function readValue(value: unknown, { by }: SortKey): SortValue | null {
  if (value === null) return null;
  const [part] = listOf(value, 1);
  const read = unpacked(part);
  if ((typeof read === 'number') !== NUMBERS.has(by)) throw invalid();
  return [read];
}

function unpacked(part: unknown): Value {
  const read = Array.isArray(part) ? Number(part[0]) * Infinity : part;
  if (typeof read === 'string' || (typeof read === 'number' && !Number.isNaN(read))) return read;
  throw invalid();
}

function readPlace<K extends Value>(source: unknown, place: unknown, isKey: IsKey<K>): CursorPlace<K> {
  if (source === 'type') return { source, after: { key: readKey(place, isKey), values: [] } };
  const [way, path] = listOf(source, 2);
  if (way === 'keys') return { source: ['keys', readPath(path)], after: { key: readKey(place, isKey), values: [] } };
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
