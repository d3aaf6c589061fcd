import type { Database } from 'better-sqlite3';

import type { SortKey } from '../../../search/query/query.js';
import { openOrderCache } from '../../order-cache.js';
import { compareHits, type Hit } from './hit.js';

/** A stretch of what a search finds, in its order. */
export interface Stretch {
  /** Where it begins: after this; absent: with the first. */
  readonly after?: Hit | undefined;
  readonly hits: readonly Hit[];
  /** Nothing follows. */
  readonly isEnd: boolean;
  /** How many there are in all; absent: they were not counted. */
  readonly total?: number | undefined;
}

/** Stretches that searches of a connection came to, as long as nothing is written. */
export interface KnownOrders {
  /** What was kept under a name, if the data are still the same. */
  get(name: string): Stretch | undefined;
  keep(name: string, stretch: Stretch): void;
}

/** Nothing is remembered. */
export const NO_ORDERS: KnownOrders = { get: () => undefined, keep: () => {} };

/**
 * None is known yet. For a connection that only reads: what one writes and undoes leaves no trace in what is looked at here
 * (`ROLLBACK TO`), so that a search would be answered from what is undone.
 */
export function openKnownOrders(db: Database): KnownOrders {
  // The first changes with each commit of another connection, the second with each row that this one changes.
  const dataVersion = db.prepare<[], number>('PRAGMA data_version').pluck();
  const ownChanges = db.prepare<[], number>('SELECT total_changes()').pluck();
  const cache = openOrderCache<Stretch>();
  let state = '';

  /** Forgets all when something was written. */
  function refresh(): void {
    const now = `${dataVersion.get()} ${ownChanges.get()}`;
    if (now !== state) cache.clear();
    state = now;
  }

  return {
    get(name) {
      refresh();
      return cache.get(name);
    },
    keep: cache.keep,
  };
}

/** So many from a place on; undefined: the stretch does not have them. */
export function takeFrom(
  { sort, isDescending }: { readonly sort: readonly SortKey[]; readonly isDescending: boolean },
  { after: begin, hits, isEnd }: Stretch,
  after: Hit | undefined,
  wanted: number,
): readonly Hit[] | undefined {
  const compare = compareHits(sort);
  const order = (a: Hit, b: Hit): number => (isDescending ? compare(b, a) : compare(a, b));
  if (begin !== undefined && (after === undefined || order(after, begin) < 0)) return undefined;
  const from = after === undefined ? 0 : hits.findIndex((hit) => order(hit, after) > 0);
  if (from < 0) return isEnd ? [] : undefined;
  return isEnd || from + wanted <= hits.length ? hits.slice(from, from + wanted) : undefined;
}
