import type { Database } from 'better-sqlite3';

import { stampBody } from '../body.js';
import { VersionConflict, type Change } from '../store.js';
import type { WriteClock } from './clock.js';
import type { Dictionary } from './dictionary.js';
import type { Fault } from './fault.js';
import { openIndexWriter } from './index-entries.js';

/** What a change was given. */
export interface Stamp {
  readonly version: number;
  readonly lastUpdated: number;
}

/** Does all changes, or throws half way: inside a transaction that is rolled back then. */
export type Writer = (changes: readonly Change[]) => Stamp[];

interface ResourceRow {
  readonly key: number;
  readonly version: number;
  readonly updated: number;
}

/** Prepares the statements that write versions and their index entries. */
export function openWriter(db: Database, dictionary: Dictionary, clock: WriteClock, fault: Fault): Writer {
  const index = openIndexWriter(db, dictionary);
  const selectResource = db.prepare<[number, string], ResourceRow>(
    'SELECT key, version, updated FROM resource WHERE type = ? AND id = ?',
  );
  const insertResource = db.prepare<[number, number, string, number, number, number, number]>(
    'INSERT INTO resource (key, type, id, seq, version, updated, deleted) VALUES (?, ?, ?, ?, ?, ?, ?)',
  );
  const updateResource = db.prepare<[number, number, number, number, number]>(
    'UPDATE resource SET seq = ?, version = ?, updated = ?, deleted = ? WHERE key = ?',
  );
  const insertVersion = db.prepare<[number, number, number, number, number, string | null]>(
    'INSERT INTO version (seq, type, resource, version, updated, body) VALUES (?, ?, ?, ?, ?, ?)',
  );

  function apply(change: Change): Stamp {
    const type = dictionary.term(change.type);
    const before = selectResource.get(type, change.id);
    const actual = before?.version ?? 0;
    if (actual !== change.expected) throw new VersionConflict(change.type, change.id, change.expected, actual);
    const version = actual + 1;
    const seq = clock.nextSeq();
    const lastUpdated = clock.stamp(before?.updated);
    const json = change.body === undefined ? null : stampBody(change.body, version, lastUpdated);
    const deleted = json === null ? 1 : 0;

    // No key is met twice: the clock never gives a seq again.
    const key = before?.key ?? seq;
    insertVersion.run(seq, type, key, version, lastUpdated, json);
    fault('version');
    if (before === undefined) insertResource.run(key, type, change.id, seq, version, lastUpdated, deleted);
    else updateResource.run(seq, version, lastUpdated, deleted, key);
    if (before !== undefined) index.clear(key);
    if (change.body !== undefined) index.add(key, type, change.entries);
    fault('entries');
    return { version, lastUpdated };
  }

  return (changes) => changes.map(apply);
}
