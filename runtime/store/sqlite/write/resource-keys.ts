import type { Database } from 'better-sqlite3';

/** Keys from here on are of resources that were written before keys had the order of writing. */
const OLDER = 2 ** 40;

/** Gives a new resource its key, the one after the last. Inside a write transaction, and the next is given when that one is written. */
export type KeyGiver = () => number;

/** Prepares the statement. */
export function openKeyGiver(db: Database): KeyGiver {
  const next = db.prepare<[], number>(`SELECT coalesce(max(key), 0) + 1 FROM resource WHERE key < ${OLDER}`).pluck();
  return () => next.get()!;
}
