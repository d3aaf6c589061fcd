import type Database from 'better-sqlite3';

import { stampBody } from '../../../runtime/store/body.js';
import { openWriteClock } from '../../../runtime/store/sqlite/file/clock.js';
import { connect, WRITER_CACHE } from '../../../runtime/store/sqlite/file/connect.js';
import { openDictionary } from '../../../runtime/store/sqlite/write/dictionary.js';
import { openIndexWriter } from '../../../runtime/store/sqlite/write/index-entries.js';
import type { Put } from '../../../runtime/store/store.js';

/** The rows of a creation, without asking what is there: a transaction each, as single clients have it. */
export function openBare(file: string): {
  readonly db: Database.Database;
  insert(put: Put): void;
  /** All in one transaction. */
  insertAll(puts: readonly Put[]): void;
} {
  const db = connect(file, { cache: WRITER_CACHE });
  db.pragma('wal_autocheckpoint = 1000');
  const dictionary = openDictionary(db);
  const index = openIndexWriter(db, dictionary);
  const clock = openWriteClock(db);
  const version = db.prepare(
    'INSERT INTO version (seq, type, resource, version, updated, body) VALUES (?, ?, ?, 1, ?, ?)',
  );
  const resource = db.prepare(
    'INSERT INTO resource (key, type, id, seq, version, updated, deleted) VALUES (?, ?, ?, ?, 1, ?, 0)',
  );
  const add = (put: Put): void => {
    const seq = clock.nextSeq();
    const now = clock.stamp(undefined);
    const type = dictionary.term(put.type);
    version.run(seq, type, seq, now, stampBody(put.body, 1, now));
    resource.run(seq, type, put.id, seq, now);
    index.add(seq, type, put.entries);
  };
  const insertAll = db.transaction((puts: readonly Put[]) => {
    clock.begin(undefined);
    for (const put of puts) add(put);
    clock.save();
  });
  return { db, insert: (put) => void insertAll([put]), insertAll: (puts) => void insertAll(puts) };
}
