import { FhirError } from '../fhir/errors.js';
import { compareText } from '../search/query/compare-text.js';
import type { SortKey, Target } from '../search/query/query.js';
import { compareValues, type SortValue } from '../search/query/sort.js';
import type { FindMultiTypeQuery } from './store.js';

/** Where a walk over several types is: at the last resource shown, which may be gone by now. */
export interface MultiTypeCursor {
  readonly type: string;
  /** Cursor of the store's own, as a walk over that type alone would have it. */
  readonly own: string;
}

/** The place as text. */
export function writeMultiTypeCursor({ type, own }: MultiTypeCursor): string {
  return `${type} ${own}`;
}

/** Reads it again; `own` is for the store to judge. @throws FhirError `page-invalid` where it is of none of these types */
export function readMultiTypeCursor(text: string, parts: readonly Target[]): MultiTypeCursor {
  const end = text.indexOf(' ');
  const type = text.slice(0, Math.max(end, 0));
  if (!parts.some((part) => part.type === type)) throw new FhirError('page-invalid');
  return { type, own: text.slice(end + 1) };
}

/** The query without the types that a walk one type after the other has passed: a thread can do without them. */
export function withoutPassedTypes(query: FindMultiTypeQuery): FindMultiTypeQuery {
  const { parts, sort, after } = query;
  if (after === undefined || sort.length > 0) return query;
  const { type } = readMultiTypeCursor(after, parts);
  return { ...query, parts: parts.filter((part) => compareText(part.type, type) >= 0) };
}

/** Part of a search over several types that is left for one type. */
export interface RemainingPart {
  readonly part: Target;
  /**
   * `all` of it; what comes `after` the values and id of the place; or `from` there on: what comes after, and before that the
   * resource of this type that has that very id, where it has those very values.
   */
  readonly left: 'all' | 'after' | 'from';
}

/**
 * The types that have anything left, in their order. Without keys they come one after the other; with keys what is equal in
 * values and id comes in the order of types.
 *
 * @param place absent: from the beginning
 */
export function remainingParts(
  parts: readonly Target[],
  sort: readonly SortKey[],
  place: MultiTypeCursor | undefined,
): readonly RemainingPart[] {
  return parts
    .toSorted((a, b) => compareText(a.type, b.type))
    .flatMap((part): readonly RemainingPart[] => {
      if (place === undefined) return [{ part, left: 'all' }];
      const order = compareText(part.type, place.type);
      if (sort.length === 0) return order < 0 ? [] : [{ part, left: order === 0 ? 'after' : 'all' }];
      return [{ part, left: order <= 0 ? 'after' : 'from' }];
    });
}

/** A resource that was found. */
export interface FoundMultiType {
  readonly type: string;
  readonly id: string;
  /** Of each key before the first by id, at its place; null: it has none. */
  readonly values: readonly (SortValue | null)[];
}

/** The order of a search over several types: without keys by type, then id; with keys by these, then id, then type. */
export function compareMultiType(sort: readonly SortKey[]): (a: FoundMultiType, b: FoundMultiType) => number {
  return (a, b) => {
    const byId = compareText(a.id, b.id);
    const byType = compareText(a.type, b.type);
    if (sort.length === 0) return byType || byId;
    for (const [i, { by, isDescending }] of sort.entries()) {
      const order = by === 'id' ? byId : missingLast(a.values[i] ?? null, b.values[i] ?? null);
      if (order === undefined) return (a.values[i] ?? null) === null ? 1 : -1;
      if (order !== 0) return isDescending ? -order : order;
      if (by === 'id') break;
    }
    return byId || byType;
  };
}

/** Undefined: only one of them has a value. */
function missingLast(a: SortValue | null, b: SortValue | null): number | undefined {
  if (a === null || b === null) return a === b ? 0 : undefined;
  return compareValues(a, b);
}

/** The first of what was found of each type, as many as are wanted, in the order of the search. */
export function mergeMultiType<T extends FoundMultiType>(
  found: readonly (readonly T[])[],
  sort: readonly SortKey[],
  wanted: number,
): readonly T[] {
  return found.flat().sort(compareMultiType(sort)).slice(0, wanted);
}
