import type { Document } from 'mongodb';

import type { Head } from './bson/stored-version.js';

/** The place of a version in the order of history. */
export type HistoryPlace = Pick<Head, 'updated' | 'n' | 'type' | 'id'>;

/** Negative where `a` is older. The order that the indexes have. */
export function comparePlaces(a: HistoryPlace, b: HistoryPlace): number {
  return a.updated - b.updated || a.n - b.n || compareText(a.type, b.type) || compareText(a.id, b.id);
}

/** By UTF-8, as the server does; text that differs within the basic plane only is the same by code units. */
function compareText(a: string, b: string): number {
  return a === b ? 0 : Buffer.compare(Buffer.from(a), Buffer.from(b));
}

/**
 * Conditions for versions strictly before a place in the order, or after it. Only the instant limits the range of the
 * index; the few versions of the same instant are compared document by document.
 */
export function beyond({ updated: time, n, type, id }: HistoryPlace, direction: 'before' | 'after'): Document {
  const updated = new Date(time);
  const [past, notPast, notBeyond] = direction === 'before' ? ['$gt', '$lte', '$gte'] : ['$lt', '$gte', '$lte'];
  return {
    updated: { [notPast!]: updated },
    $nor: [
      { updated, n: { [past!]: n } },
      { updated, n, type: { [past!]: type } },
      { updated, n, type, id: { [notBeyond!]: id } },
    ],
  };
}
