import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';

/** A file that is to be loaded. */
export interface SourceFile {
  readonly path: string;
  /** Bytes; 0 for what is no plain file. */
  readonly size: number;
  /** Named on the command line, so that it has to be a resource; files met in a folder may be something else. */
  readonly named: boolean;
}

/** The path that stands for standard input, which is read as NDJSON. */
export const STDIN = '-';

/**
 * The files behind paths: each file itself, and all below each folder, in the order of their names. Links to folders
 * are not followed.
 *
 * @throws Error of Node where a path does not exist or cannot be read
 */
export async function findFiles(paths: readonly string[]): Promise<SourceFile[]> {
  const files: SourceFile[] = [];
  for (const path of paths) {
    if (path === STDIN) {
      files.push({ path, size: 0, named: true });
      continue;
    }
    const found = await stat(path);
    if (found.isDirectory()) await walk(path, files);
    else files.push({ path, size: found.isFile() ? found.size : 0, named: true });
  }
  return files;
}

async function walk(folder: string, files: SourceFile[]): Promise<void> {
  const entries = await readdir(folder, { withFileTypes: true });
  entries.sort((a, b) => (a.name < b.name ? -1 : 1));
  for (const entry of entries) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) await walk(path, files);
    else files.push({ path, size: (await stat(path).catch(() => undefined))?.size ?? 0, named: false });
  }
}
