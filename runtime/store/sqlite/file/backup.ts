import {
  closeSync,
  existsSync,
  fstatSync,
  fsyncSync,
  linkSync,
  openSync,
  readSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, resolve } from 'node:path';

import { FhirError } from '../../../fhir/errors.js';
import { whyNoSqlitePath } from '../../sqlite-path.js';
import { PRIVATE } from './connect.js';
import { openThread } from '../threads/thread.js';
import { startWorker } from '../threads/start-thread.js';

/** Operations of the thread of a backup. */
export interface BackupOperations {
  /** Writes one snapshot of the file into a new one. */
  copy(to: string): void;
  /** Faults of the file, as SQLite words them: a few at most. */
  check(): string[];
}

/** Where the header of a file has the size of a page, and their number. https://www.sqlite.org/fileformat2.html#the_database_header */
const HEADER = { size: 100, pageSize: 16, pages: 28 };

/**
 * Reads a whole SQLite file and compares its tables with their indexes.
 *
 * @throws Error saying that it is cut off or damaged
 */
export async function checkIntegrity(file: string): Promise<void> {
  const { size, wanted } = sizesOf(file);
  if (size < wanted) throw new Error(`${file} is cut off: ${size} of its ${wanted} bytes are there`);
  const thread = openThread<BackupOperations>(() => startWorker('backup-worker', { file }));
  try {
    const faults = await thread.request('check', []);
    if (faults.length > 0) throw new Error(`${file} is damaged, take another backup: ${faults.join('; ')}`);
  } finally {
    await thread.close();
  }
}

function sizesOf(file: string): { readonly size: number; readonly wanted: number } {
  const header = Buffer.alloc(HEADER.size);
  const handle = openSync(file, 'r');
  try {
    readSync(handle, header);
    const { size } = fstatSync(handle);
    // 1 means 65,536, which 16 bits do not hold. What is no file of SQLite is refused when SQLite opens it.
    const page = header.readUInt16BE(HEADER.pageSize);
    const isSqlite = header.toString('latin1', 0, 6) === 'SQLite';
    return { size, wanted: isSqlite ? (page === 1 ? 65_536 : page) * header.readUInt32BE(HEADER.pages) : 0 };
  } finally {
    closeSync(handle);
  }
}

/**
 * A copy of a SQLite file in use, in a thread of its own. It gets its name only when it is whole and on the disk.
 *
 * @throws Error naming the target where there is such a file already, or none can be made there
 */
export async function backUp(file: string, target: string): Promise<void> {
  const path = resolve(target);
  const fault = whyNoSqlitePath(target);
  if (fault !== undefined) throw new Error(`the name of a backup, ${JSON.stringify(target)}, ${fault}`);
  const folder = statSync(dirname(path), { throwIfNoEntry: false });
  if (folder?.isDirectory() !== true) throw new Error(`there is no folder ${dirname(path)} to put the backup into`);
  if (existsSync(path)) throw new Error(`${path} exists already; a backup overwrites nothing`);
  const partial = `${path}.${process.pid}.partial`;
  const thread = openThread<BackupOperations>(() => startWorker('backup-worker', { file }));
  try {
    // SQLite takes an empty file for a new one, and leaves its mode.
    create(partial);
    await thread.request('copy', [partial]);
    // SQLite does not sync what it copies.
    sync(partial);
    linkSync(partial, path);
    sync(dirname(path));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST') throw new Error(`${path} exists already; a backup overwrites nothing`, { cause: error });
    if (code === 'ENOSPC') throw new Error(`there is no room for ${path}`, { cause: error });
    const reason = error instanceof FhirError ? TARGET_CODES[error.issues[0].diagnostics ?? ''] : undefined;
    throw reason === undefined ? error : new Error(`${path} cannot be written: ${reason}`, { cause: error });
  } finally {
    await thread.close();
    rmSync(partial, { force: true });
  }
}

/** Codes of SQLite that tell of the new file, as long as the old one can be read. */
const TARGET_CODES: Readonly<Record<string, string>> = {
  SQLITE_FULL: 'the disk is full',
  SQLITE_IOERR_WRITE: 'the disk is full or fails',
  SQLITE_IOERR_FSYNC: 'the disk fails',
  SQLITE_IOERR_TRUNCATE: 'the disk is full or fails',
  SQLITE_CANTOPEN: 'no file can be made there',
  SQLITE_READONLY: 'nothing may be written there',
};

function create(path: string): void {
  try {
    writeFileSync(path, '', { flag: 'wx', mode: PRIVATE });
  } catch {
    // SQLite cannot either, and says why.
  }
}

function sync(path: string): void {
  const handle = openSync(path, 'r');
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}
