import type { Database } from 'better-sqlite3';

import { placeEntries } from '../../contained-resources.js';
import type { Contained } from '../../../indexing/contained.js';
import type { IndexEntry } from '../../../indexing/entry.js';
import type { Reindexed } from '../../store.js';
import type { Dictionary } from './dictionary.js';
import type { Fault } from '../file/fault.js';
import { openIndexWriter } from './index-entries.js';
import { openContainedWriter } from './contained-resources.js';
import { openKeyGiver } from './resource-keys.js';

/** Row of a resource in the table `resource`. */
export interface ResourceRow {
  readonly key: number;
  /** Of its current version. */
  readonly seq: number;
  readonly version: number;
  readonly updated: number;
  /** 1: its current version is a deletion. */
  readonly deleted: number;
  /** How often its current version was amended; null: never. */
  readonly amended: number | null;
}

/** A version to be appended. */
export interface NewVersion {
  /** The type's number in the dictionary. */
  readonly type: number;
  readonly name: string;
  readonly id: string;
  /** What `find` gave. */
  readonly before: ResourceRow | undefined;
  /** Its place in the order of all versions, after every other. */
  readonly seq: number;
  readonly version: number;
  readonly updated: number;
  /** Null: it is a deletion. */
  readonly body: string | null;
  readonly entries: readonly IndexEntry[];
  readonly contained: readonly Contained[] | undefined;
}

/** Appends versions. Inside a write transaction. */
export interface VersionAppender {
  find(type: number, id: string): ResourceRow | undefined;
  /** Makes it the current one of its resource; its index entries, and what is within it, take the place of those before. */
  append(version: NewVersion): void;
  /**
   * Replaces index entries of the current version, as long as that is still as it was read, and nothing else of it.
   *
   * @returns whether it was
   */
  reindex(item: Reindexed): boolean;
  /** Removes a resource whose versions are gone, by its key, with what is within it. */
  remove(key: number): void;
}

/** Prepares the statements that append versions with their index entries. */
export function openVersionAppender(db: Database, dictionary: Dictionary, fault: Fault): VersionAppender {
  const index = openIndexWriter(db, dictionary);
  const giveKey = openKeyGiver(db);
  const members = openContainedWriter(db, dictionary, index, giveKey);
  const selectResource = db.prepare<[number, string], ResourceRow>(
    'SELECT r.key, r.seq, r.version, r.updated, r.deleted, a.times AS amended FROM resource r ' +
      'LEFT JOIN amended a ON a.seq = r.seq WHERE r.type = ? AND r.id = ?',
  );
  const insertResource = db.prepare<[number, number, string, number, number, number, number]>(
    'INSERT INTO resource (key, type, id, seq, version, updated, deleted) VALUES (?, ?, ?, ?, ?, ?, ?)',
  );
  const updateResource = db.prepare<[number, number, number, number]>(
    'UPDATE resource SET seq = ?, version = ?, updated = ? WHERE key = ?',
  );
  // By itself: SQLite writes anew what an index has of each column that is set, changed or not.
  const setDeleted = db.prepare<[number, number]>('UPDATE resource SET deleted = ? WHERE key = ?');
  const insertVersion = db.prepare<[number, number, number, number, number, string | null]>(
    'INSERT INTO version (seq, type, resource, version, updated, body) VALUES (?, ?, ?, ?, ?, ?)',
  );
  const remove = db.prepare<[number]>('DELETE FROM resource WHERE key = ?');
  return {
    find: (type, id) => selectResource.get(type, id),
    reindex({ type: name, id, version, amended = 0, entries, contained = [] }) {
      const type = dictionary.findTerm(name);
      const row = type === undefined ? undefined : selectResource.get(type, id);
      if (type === undefined || row?.version !== version || row.deleted === 1) return false;
      if ((row.amended ?? 0) !== amended) return false;
      index.replace(row.key, type, placeEntries({ type: name, id }, contained)(entries));
      members.replace({ ...row, type: name, id }, contained);
      return true;
    },
    remove(key) {
      index.clear(key);
      members.clear(key);
      remove.run(key);
    },
    append({ type, name, id, before, seq, version, updated, body, entries, contained = [] }) {
      const deleted = body === null ? 1 : 0;
      const key = before?.key ?? giveKey();
      insertVersion.run(seq, type, key, version, updated, body);
      fault('version');
      if (before === undefined) insertResource.run(key, type, id, seq, version, updated, deleted);
      else updateResource.run(seq, version, updated, key);
      if (before !== undefined && before.deleted !== deleted) setDeleted.run(deleted, key);
      const placed = placeEntries({ type: name, id }, contained)(entries);
      if (before === undefined) index.add(key, type, placed);
      else index.replace(key, type, placed);
      const container = { key, type: name, id, seq, version, updated };
      if (before === undefined) members.add(container, contained);
      else members.replace(container, contained);
      fault('entries');
    },
  };
}
