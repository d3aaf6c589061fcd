import type { FindCursor, SortedPlace } from './cursor.js';
import type { Hit } from './hit.js';
import type { Run } from './run.js';
import type { Place } from './search.js';

/** Where a page begins that follows another. */
export function placeOf(run: Run, { place }: FindCursor): Place {
  return place.source === 'sort' ? { source: 'sort', after: findPlace(run, place) } : place;
}

/**
 * The resource that a walk has come to, or a place where one of its id and values would be. Where it is gone its key is that
 * of the last one before it by id.
 */
export function findPlace(run: Run, { id, values }: SortedPlace): Hit {
  const before = run.statements.prepare<{ readonly key: number; readonly id: string }>(
    'SELECT key, id FROM resource WHERE type = ? AND id <= ? ORDER BY id DESC LIMIT 1',
  );
  const found = before.get(run.type, id);
  // A walk downwards begins with that one.
  const isLater = run.isDescending && found !== undefined && found.id !== id;
  return { key: (found?.key ?? 0) + (isLater ? 1 : 0), id, values };
}
