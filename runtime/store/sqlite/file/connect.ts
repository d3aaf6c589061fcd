import Database from 'better-sqlite3';
import { chmodSync, existsSync } from 'node:fs';

import { checkOwner } from './check-owner.js';
import { isInUse, whyAnother, type FileIdentity } from './file-identity.js';
import { LONG_LOG } from './log-keeper.js';
import { migrate } from './migrate.js';
import { PAGE_SIZE } from './block-size.js';

/** How long opening waits for the lock that another process holds, in milliseconds. */
const OPEN_TIMEOUT = 10_000;

/** Patients and the keys of tokens are in the file: its owner alone reads it, and the log, which SQLite makes alike. */
export const PRIVATE = 0o600;

/**
 * Memory of the writer for pages, in kB. More makes commits slower: where a B-tree was balanced, SQLite gives a page the number of the lock
 * page for a moment, and so looks through all pages at the commit for those beyond the end of the file (pcache1Truncate).
 */
export const WRITER_CACHE = 4096;

/** How a connection is going to be used. */
export interface ConnectOptions {
  /** Most memory for pages, in kB. */
  readonly cache?: number;
  /** How long a statement waits for a lock, in milliseconds; absent: as opening does. */
  readonly timeout?: number;
  readonly queryOnly?: boolean;
  /** The file ends with the process: nothing need be synced. */
  readonly isTemporary?: boolean;
  /** The process has it open already: it has to be this file, and none is made. */
  readonly identity?: FileIdentity;
}

/**
 * Opens a SQLite file, makes or migrates its schema, and sets it to lose nothing that was committed: write-ahead log,
 * synced at each commit. https://www.sqlite.org/wal.html
 *
 * @throws Error naming the file; one that is newer or of another program is left as it was, to the byte
 * @throws Error saying so where it is not the file that it has to be
 */
export function connect(file: string, options: ConnectOptions = {}): Database.Database {
  const { identity } = options;
  // A process that closes a file loses all locks that its process has on it, also those of SQLite (POSIX, fcntl), without which
  // others take it for a file that is not open. https://www.sqlite.org/howtocorrupt.html
  if (identity === undefined && !isInUse(file)) checkOwner(file);
  checkIdentity(file, identity);
  const db = open(file, identity !== undefined);
  try {
    checkIdentity(file, identity);
    // Of a new file, and of copies. A file that has pages keeps theirs.
    db.pragma(`page_size = ${PAGE_SIZE}`);
    enterWal(db);
    db.pragma(`synchronous = ${options.isTemporary === true ? 'OFF' : 'FULL'}`);
    db.pragma(`cache_size = -${options.cache ?? 8192}`);
    db.pragma('temp_store = MEMORY');
    // The writer decides when the log is written back, so that no commit has to wait for it.
    db.pragma('wal_autocheckpoint = 0');
    db.pragma(`journal_size_limit = ${LONG_LOG}`);
    migrate(db);
    if (options.queryOnly === true) db.pragma('query_only = ON');
    if (options.timeout !== undefined) db.pragma(`busy_timeout = ${options.timeout}`);
    return db;
  } catch (error) {
    db.close();
    throw named(file, error);
  }
}

function checkIdentity(file: string, identity: FileIdentity | undefined): void {
  const fault = identity === undefined ? undefined : whyAnother(file, identity);
  if (fault !== undefined) throw new Error(fault);
}

function open(file: string, fileMustExist: boolean): Database.Database {
  try {
    const isNew = !existsSync(file);
    const db = new Database(file, { timeout: OPEN_TIMEOUT, fileMustExist });
    // By name, while it is empty: to open and close it would end the locks of this process. Who made it otherwise decides.
    if (isNew) chmodSync(file, PRIVATE);
    return db;
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
