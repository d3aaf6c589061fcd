import type { Database } from 'better-sqlite3';

import type { SortKey } from '../../../search/query/query.js';
import type { SortValue } from '../../../search/query/sort.js';
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

/**
 * Stretches that searches of a connection came to, as long as nothing is written: a client that walks through pages asks for what follows,
 * and the order of all matches is not made anew for each page.
 */
export interface KnownOrders {
  /** What was kept under a name, if the data are still the same. */
  get(name: string): Stretch | undefined;
  keep(name: string, stretch: Stretch): void;
}

/** What is kept in all, and of one stretch, about, in characters. */
const MOST = 4_000_000;
const LARGEST = 100_000;

/** What a resource takes beside a text that it is sorted by. */
const EACH = 100;

/** None is known yet. */
export function openKnownOrders(db: Database): KnownOrders {
  // The first changes with each commit of another connection, the second with each row that this one changes.
  const dataVersion = db.prepare<[], number>('PRAGMA data_version').pluck();
  const ownChanges = db.prepare<[], number>('SELECT total_changes()').pluck();
  const kept = new Map<string, Stretch>();
  let state = '';
  let size = 0;

  function clear(): void {
    kept.clear();
    size = 0;
  }

  /** Forgets all when something was written. */
  function refresh(): void {
    const now = `${dataVersion.get()} ${ownChanges.get()}`;
    if (now !== state) clear();
    state = now;
  }

  return {
    get(name) {
      refresh();
      return kept.get(name);
    },
    keep(name, stretch) {
      const own = stretch.hits.reduce((sum, { values: [value] }) => sum + EACH + lengthOf(value), name.length);
      if (own > LARGEST) return;
      if (size + own > MOST) clear();
      size += own;
      kept.set(name, stretch);
    },
  };
}

function lengthOf(value: SortValue | null | undefined): number {
  const [text] = value ?? [];
  return typeof text === 'string' ? text.length : 0;
}

/** So many from a place on; undefined: the stretch does not have them. */
export function takeFrom(
  sort: readonly SortKey[],
  { after: begin, hits, isEnd }: Stretch,
  after: Hit | undefined,
  wanted: number,
): readonly Hit[] | undefined {
  const order = compareHits(sort);
  if (begin !== undefined && (after === undefined || order(after, begin) < 0)) return undefined;
  const from = after === undefined ? 0 : hits.findIndex((hit) => order(hit, after) > 0);
  if (from < 0) return isEnd ? [] : undefined;
  return isEnd || from + wanted <= hits.length ? hits.slice(from, from + wanted) : undefined;
}
