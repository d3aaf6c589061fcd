import { statSync } from 'node:fs';

/** Which files stood behind the name of a store, and that of its log, when it was opened: device and inode. */
export interface FileIdentity {
  readonly file: string;
  /** Absent: there was no log. */
  readonly log: string | undefined;
}

/**
 * Identifies the files that a name leads to now; undefined: there is none. The file is not opened, so that no lock on
 * it is touched.
 */
export function identify(file: string): FileIdentity | undefined {
  const own = inodeOf(file);
  return own === undefined ? undefined : { file: own, log: inodeOf(`${file}-wal`) };
}

/**
 * Returns what is wrong where a name leads to another file than before; undefined: it leads to the same. SQLite goes on
 * with files that were deleted or replaced under it, and what it writes is lost when the process ends.
 */
export function whyAnother(file: string, before: FileIdentity): string | undefined {
  if (inodeOf(file) === before.file && (before.log === undefined || inodeOf(`${file}-wal`) === before.log)) {
    return undefined;
  }
  return (
    'the file of the store, or its log (-wal), was deleted or replaced while it is in use; end all that uses it, put ' +
    'the right file there, and start again'
  );
}

function inodeOf(path: string): string | undefined {
  const stat = statSync(path, { bigint: true, throwIfNoEntry: false });
  return stat === undefined ? undefined : `${stat.dev}:${stat.ino}`;
}

/** Files that stores of this thread have open, and how many of them. */
const inUse = new Map<string, number>();

/** Notes that a store has a file open. @returns ends that */
export function markInUse({ file }: FileIdentity): () => void {
  inUse.set(file, (inUse.get(file) ?? 0) + 1);
  return () => {
    const left = (inUse.get(file) ?? 1) - 1;
    if (left === 0) inUse.delete(file);
    else inUse.set(file, left);
  };
}

/** Whether a store of this thread has the file behind a name open. */
export function isInUse(file: string): boolean {
  const own = inodeOf(file);
  return own !== undefined && inUse.has(own);
}
