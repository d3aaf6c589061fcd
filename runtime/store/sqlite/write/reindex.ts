import type { Database } from 'better-sqlite3';

import { placeEntries } from '../../contained-resources.js';
import type { Reindexed } from '../../store.js';
import type { Dictionary } from './dictionary.js';
import { openIndexWriter } from './index-entries.js';
import { openContainedWriter } from './contained-resources.js';
import { openKeyGiver } from './resource-keys.js';

interface CurrentRow {
  readonly key: number;
  readonly seq: number;
  readonly updated: number;
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
  const members = openContainedWriter(db, dictionary, index, openKeyGiver(db));
  const select = db.prepare<[number, string], CurrentRow>(
    'SELECT key, seq, updated, version, deleted FROM resource WHERE type = ? AND id = ?',
  );

  function reindex({ type: name, id, version, entries, contained = [] }: Reindexed): boolean {
    const type = dictionary.findTerm(name);
    const row = type === undefined ? undefined : select.get(type, id);
    if (type === undefined || row?.version !== version || row.deleted === 1) return false;
    index.replace(row.key, type, placeEntries({ type: name, id }, contained)(entries));
    members.clear(row.key);
    members.add({ ...row, type: name, id }, contained);
    return true;
  }

  return (items) => items.filter(reindex).length;
}
