import { constants, type Dirent, type Stats } from 'node:fs';
import { access, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';

import { ConfigError } from '../../config/config-error.js';
import type { Failure, Skipped } from './document.js';

/** A file that is to be loaded. */
export interface SourceFile {
  readonly path: string;
  /** Bytes; 0 where they are not known. */
  readonly size: number;
  /** Named on the command line, so that it has to be a resource; files met in a folder may be something else. */
  readonly named: boolean;
}

/** The path that stands for standard input, which is read as NDJSON. */
export const STDIN = '-';

/** A file below a path, or a failure where something cannot be read, or a skipped thing that is no file. */
export type FoundFile = SourceFile | Failure | Skipped;

/**
 * The files behind paths: each file itself, and all below each folder, in the order of their names. Below a folder,
 * links to folders are not followed, and what is neither file nor folder is skipped: reading a FIFO would wait for ever.
 *
 * @throws ConfigError that names each of the paths that does not exist, cannot be read or is neither file nor folder
 */
export async function findFiles(paths: readonly string[]): Promise<FoundFile[]> {
  const stats = await Promise.all(paths.map(async (path) => (path === STDIN ? undefined : check(path))));
  const wrong = paths.flatMap((path, i) => (typeof stats[i] === 'string' ? [`${path}: ${stats[i]}`] : []));
  if (wrong.length > 0) throw new ConfigError(`nothing was loaded: ${wrong.join('; ')}`);
  const files: FoundFile[] = [];
  for (const [i, path] of paths.entries()) {
    const found = stats[i];
    if (typeof found === 'string') continue;
    if (found?.isDirectory() === true) await walk(path, files);
    else files.push({ path, size: found?.size ?? 0, named: true });
  }
  return files;
}

/** What is at a path, or in words why that cannot be loaded. */
async function check(path: string): Promise<Stats | string> {
  try {
    const found = await stat(path);
    if (!found.isDirectory() && !found.isFile()) return 'neither a file nor a folder';
    await access(path, constants.R_OK);
    return found;
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    return CAUSES[code ?? ''] ?? message;
  }
}

/** Node's codes in words. */
const CAUSES: Readonly<Record<string, string>> = {
  ENOENT: 'does not exist',
  ENOTDIR: 'does not exist',
  EACCES: 'may not be read',
};

async function walk(folder: string, files: FoundFile[]): Promise<void> {
  let entries: Dirent[];
  try {
    entries = await readdir(folder, { withFileTypes: true });
  } catch (error) {
    files.push({ place: folder, error });
    return;
  }
  entries.sort((a, b) => (a.name < b.name ? -1 : 1));
  for (const entry of entries) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) await walk(path, files);
    else {
      // What is gone by now, or a link to nothing, fails when it is read.
      const found = await stat(path).catch(() => undefined);
      if (found === undefined || found.isFile()) files.push({ path, size: found?.size ?? 0, named: false });
      else files.push({ place: path, skipped: true });
    }
  }
}
