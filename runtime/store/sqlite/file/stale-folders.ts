import Database from 'better-sqlite3';
import { existsSync, lstatSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';

/** Beginning of the name of a folder that holds a temporary store. */
export const TEMPORARY_FOLDER = 'kiln-memory-';

/** The file in it. */
export const TEMPORARY_FILE = 'kiln.db';

/** A folder younger than this may be about to get its file, in milliseconds. */
const YOUNG = 60_000;
const MOST_AT_ONCE = 20;

/**
 * Deletes the temporary stores of processes that were killed. A live one holds a lock on its file, which is seen from
 * other containers too, where its process id is not. Whatever goes wrong leaves the folder to the next.
 */
export function removeStaleFolders(parent: string, young: number = YOUNG): void {
  try {
    const names = readdirSync(parent).filter((name) => name.startsWith(TEMPORARY_FOLDER));
    for (const name of names.slice(0, MOST_AT_ONCE)) {
      const folder = join(parent, name);
      if (isOldAndOurs(folder, young) && !isInUse(join(folder, TEMPORARY_FILE))) {
        rmSync(folder, { recursive: true, force: true });
      }
    }
  } catch {
    // Another process deletes the same one.
  }
}

function isOldAndOurs(folder: string, young: number): boolean {
  const stat = lstatSync(folder, { throwIfNoEntry: false });
  return stat?.isDirectory() === true && stat.uid === process.getuid?.() && Date.now() - stat.ctimeMs >= young;
}

/** Whether another connection has it open: each holds a shared lock, against which an exclusive one cannot be had. */
function isInUse(file: string): boolean {
  if (!existsSync(file)) return false;
  const db = new Database(file, { timeout: 0, fileMustExist: true });
  try {
    db.pragma('locking_mode = EXCLUSIVE');
    db.exec('BEGIN EXCLUSIVE; ROLLBACK');
    return false;
  } catch {
    return true;
  } finally {
    db.close();
  }
}
