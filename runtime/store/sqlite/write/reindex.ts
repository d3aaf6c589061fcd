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
  readonly amended: number | null;
}

/**
 * Replaces index entries of versions that are current still and as they were read, and nothing else of them. Inside a write transaction.
 *
 * @returns how many were replaced
 */
export function openReindexer(db: Database, dictionary: Dictionary): (items: readonly Reindexed[]) => number {
  const index = openIndexWriter(db, dictionary);
  const members = openContainedWriter(db, dictionary, index, openKeyGiver(db));
  const select = db.prepare<[number, string], CurrentRow>(
    'SELECT r.key, r.seq, r.updated, r.version, r.deleted, a.times AS amended FROM resource r ' +
      'LEFT JOIN amended a ON a.seq = r.seq WHERE r.type = ? AND r.id = ?',
  );

  function reindex({ type: name, id, version, amended = 0, entries, contained = [] }: Reindexed): boolean {
    const type = dictionary.findTerm(name);
    const row = type === undefined ? undefined : select.get(type, id);
    if (type === undefined || row?.version !== version || row.deleted === 1) return false;
    if ((row.amended ?? 0) !== amended) return false;
    index.replace(row.key, type, placeEntries({ type: name, id }, contained)(entries));
    members.clear(row.key);
    members.add({ ...row, type: name, id }, contained);
    return true;
  }

  return (items) => items.filter(reindex).length;
}
