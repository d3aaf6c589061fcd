import Database from 'better-sqlite3';

import { migrate } from './migrate.js';

/** How long a connection waits for the lock that another process holds, in milliseconds. */
const BUSY_TIMEOUT = 10_000;

/**
 * Opens a SQLite file, makes or migrates its schema, and sets it to lose nothing that was committed: write-ahead log,
 * synced at each commit. https://www.sqlite.org/wal.html
 *
 * @throws Error naming the file
 */
export function connect(file: string): Database.Database {
  const db = open(file);
  try {
    enterWal(db);
    db.pragma('synchronous = FULL');
    db.pragma('cache_size = -32768');
    db.pragma('temp_store = MEMORY');
    migrate(db);
    return db;
  } catch (error) {
    db.close();
    throw named(file, error);
  }
}

function open(file: string): Database.Database {
  try {
    return new Database(file, { timeout: BUSY_TIMEOUT });
  } catch (error) {
    throw named(file, error);
  }
}

/** SQLite's own messages do not say which file it is about. */
function named(file: string, error: unknown): unknown {
  return error instanceof Database.SqliteError ? new Error(`${file}: ${error.message}`, { cause: error }) : error;
}

/** Changing the mode does not wait for other connections as everything else does, so it is tried again. */
function enterWal(db: Database.Database): void {
  const pause = new Int32Array(new SharedArrayBuffer(4));
  for (let attempt = 0; ; attempt++) {
    try {
      if (db.pragma('journal_mode', { simple: true }) === 'wal') return;
      db.pragma('journal_mode = WAL');
      return;
    } catch (error) {
      const busy = error instanceof Database.SqliteError && error.code.startsWith('SQLITE_BUSY');
      if (!busy || attempt >= 200) throw error;
      Atomics.wait(pause, 0, 0, 25);
    }
  }
}
