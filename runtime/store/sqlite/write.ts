import type { Database } from 'better-sqlite3';

import { stampBody } from '../body.js';
import { VersionConflict, type Change, type StoredVersion } from '../store.js';
import type { Dictionary } from './dictionary.js';
import { openIndexWriter } from './index-entries.js';

/** Does all changes in one transaction, or none; waits for the write lock of the file where another process has it. */
export type Writer = (changes: readonly Change[]) => StoredVersion[];

interface ResourceRow {
  readonly key: number;
  readonly version: number;
  readonly updated: number;
}

/** The version written last. */
interface Latest {
  readonly seq: number;
  readonly updated: number;
}

/** @param now the clock, in milliseconds; tests hand in another */
export function openWriter(db: Database, dictionary: Dictionary, now: () => number = Date.now): Writer {
  const index = openIndexWriter(db, dictionary);
  const selectResource = db.prepare<[number, string], ResourceRow>(
    'SELECT key, version, updated FROM resource WHERE type = ? AND id = ?',
  );
  const selectLatest = db.prepare<[], Latest>('SELECT seq, updated FROM version ORDER BY seq DESC LIMIT 1');
  const insertResource = db.prepare<[number, number, string, number, number, number, number]>(
    'INSERT INTO resource (key, type, id, seq, version, updated, deleted) VALUES (?, ?, ?, ?, ?, ?, ?)',
  );
  const updateResource = db.prepare<[number, number, number, number, number]>(
    'UPDATE resource SET seq = ?, version = ?, updated = ?, deleted = ? WHERE key = ?',
  );
  const insertVersion = db.prepare<[number, number, number, number, number, string | null]>(
    'INSERT INTO version (seq, type, resource, version, updated, body) VALUES (?, ?, ?, ?, ?, ?)',
  );

  function apply(change: Change, seq: number, clock: number): StoredVersion {
    const type = dictionary.term(change.type);
    const before = selectResource.get(type, change.id);
    const actual = before?.version ?? 0;
    if (actual !== change.expected) throw new VersionConflict(change.type, change.id, change.expected, actual);
    const version = actual + 1;
    const lastUpdated = before === undefined ? clock : Math.max(clock, before.updated + 1);
    const json = change.body === undefined ? undefined : stampBody(change.body, version, lastUpdated);
    const deleted = json === undefined ? 1 : 0;

    // No key is met twice: each resource keeps its current version, whose seq is not below the key.
    const key = before?.key ?? seq;
    insertVersion.run(seq, type, key, version, lastUpdated, json ?? null);
    if (before === undefined) insertResource.run(key, type, change.id, seq, version, lastUpdated, deleted);
    else updateResource.run(seq, version, lastUpdated, deleted, key);
    if (before !== undefined) index.clear(key);
    if (change.body !== undefined) index.add(key, type, change.entries);
    const stored = { type: change.type, id: change.id, version, lastUpdated };
    return json === undefined ? stored : { ...stored, json };
  }

  const transaction = db.transaction((changes: readonly Change[]) => {
    // Under the lock, so that no version in the file is later than one written after it.
    const latest = selectLatest.get();
    let seq = latest?.seq ?? 0;
    let clock = Math.max(now(), latest?.updated ?? 0);
    return changes.map((change) => {
      const stored = apply(change, ++seq, clock);
      clock = stored.lastUpdated;
      return stored;
    });
  });

  return (changes) => {
    try {
      return transaction.immediate(changes);
    } catch (error) {
      dictionary.reset();
      throw error;
    }
  };
}
