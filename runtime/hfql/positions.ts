import { createBoundedMap } from '../fhir/memory/bounded-map.js';
import type { Store } from '../store/store.js';
import { memoizeWeak } from '../fhir/memory/memoize.js';

/** A place in the rows of a statement, from which a walk can go on without walking what comes before. */
export interface Position {
  /** Index of the next resource among all that the search finds. */
  readonly offset: number;
  /** `next` of the batch before; absent: the beginning. */
  readonly after?: string;
  /** Rows that the resources before it made. */
  readonly rows: number;
}

/** The place before all rows. */
export const BEGINNING: Position = { offset: 0, rows: 0 };

/** Walks whose last place is remembered. */
const KEPT = 1000;

const placesOf = memoizeWeak((_store: Store) => createBoundedMap<Position>(KEPT));

/**
 * The place that a walk had last, at or before a row; else the beginning. Places are remembered by this process alone, and the least
 * recently used ones are forgotten: a walk then begins anew and skips what it gave before.
 */
export function positionOf(store: Store, walk: string, offset: number): Position {
  const found = placesOf(store).get(walk);
  return found !== undefined && found.offset <= offset ? found : BEGINNING;
}

/** Remembers the place of a walk. */
export function keepPosition(store: Store, walk: string, position: Position): void {
  placesOf(store).set(walk, position);
}
