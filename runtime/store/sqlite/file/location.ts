import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';

import { atExit } from '../../../fhir/at-exit.js';
import { sqlitePathOf, whyNoSqlitePath } from '../../sqlite-path.js';
import { removeStaleFolders, TEMPORARY_FILE, TEMPORARY_FOLDER } from './stale-folders.js';

/** A SQLite file, and what to do with it in the end. */
export interface Location {
  readonly file: string;
  /** It is private and ends with the process. */
  readonly isTemporary: boolean;
  /** Deletes the file where it is temporary. */
  readonly dispose: () => void;
}

/**
 * The file behind `sqlite:PATH`, its folder made where it is missing; behind `sqlite::memory:` a private temporary one
 * (connections in several threads have to see the same data), which is deleted at exit, and those that processes left
 * which could not do so.
 *
 * @throws Error naming the folder where it cannot be made, or the path where SQLite would take it for another
 */
export function locate(url: string): Location {
  const path = sqlitePathOf(url);
  if (path !== ':memory:') {
    const fault = whyNoSqlitePath(path);
    if (fault !== undefined) throw new Error(`the store ${JSON.stringify(path)} ${fault}`);
    const file = resolve(path);
    makeFolder(dirname(file));
    return { file, isTemporary: false, dispose: () => {} };
  }
  removeStaleFolders(tmpdir());
  const folder = mkdtempSync(join(tmpdir(), TEMPORARY_FOLDER));
  const remove = (): void => rmSync(folder, { recursive: true, force: true });
  const leave = atExit(remove);
  return {
    file: join(folder, TEMPORARY_FILE),
    isTemporary: true,
    dispose: () => {
      leave();
      remove();
    },
  };
}

/** Makes a folder and those above it, one by one: Node's recursive `mkdir` never ends where the system says ENOENT. */
function makeFolder(folder: string): void {
  if (existsSync(folder)) return;
  const parent = dirname(folder);
  if (parent !== folder) makeFolder(parent);
  try {
    mkdirSync(folder);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'EEXIST') throw new Error(`${folder} cannot be made (${code})`, { cause: error });
  }
}
