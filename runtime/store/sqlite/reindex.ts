import type { Database } from 'better-sqlite3';

import type { Reindexed } from '../store.js';
import type { Dictionary } from './dictionary.js';
import { openIndexWriter } from './index-entries.js';

interface CurrentRow {
  readonly key: number;
  readonly version: number;
  readonly deleted: number;
}

/**
 * Replaces index entries of versions that are current still, and nothing else of them. Inside a write transaction.
 *
 * @returns how many were replaced
 */
export function openReindexer(db: Database, dictionary: Dictionary): (items: readonly Reindexed[]) => number {
  const index = openIndexWriter(db, dictionary);
  const select = db.prepare<[number, string], CurrentRow>(
    'SELECT key, version, deleted FROM resource WHERE type = ? AND id = ?',
  );

  function reindex({ type: name, id, version, entries }: Reindexed): boolean {
    const type = dictionary.findTerm(name);
    const row = type === undefined ? undefined : select.get(type, id);
    if (type === undefined || row?.version !== version || row.deleted === 1) return false;
    index.clear(row.key);
    index.add(row.key, type, entries);
    return true;
  }

  return (items) => items.filter(reindex).length;
}
