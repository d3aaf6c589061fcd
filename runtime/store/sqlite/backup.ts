import { closeSync, existsSync, fsyncSync, linkSync, openSync, rmSync } from 'node:fs';
import { dirname, resolve } from 'node:path';

import { FhirError } from '../../fhir/errors.js';
import { openThread } from './thread.js';
import { startWorker } from './start-thread.js';

/** What the thread of a backup does. */
export interface BackupOperations {
  /** Writes one snapshot of the file into a new one. */
  copy(to: string): void;
}

/**
 * A copy of a SQLite file in use, in a thread of its own. It gets its name only when it is whole and on the disk.
 *
 * @throws Error where there is such a file already
 */
export async function backUp(file: string, target: string): Promise<void> {
  const path = resolve(target);
  if (existsSync(path)) throw new Error(`${path} exists already; a backup overwrites nothing`);
  const partial = `${path}.${process.pid}.partial`;
  const thread = openThread<BackupOperations>(() => startWorker('backup-worker', { file }));
  try {
    await thread.request('copy', [partial]);
    // SQLite does not sync what it copies.
    sync(partial);
    linkSync(partial, path);
    sync(dirname(path));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST') throw new Error(`${path} exists already; a backup overwrites nothing`, { cause: error });
    if (code === 'ENOSPC') throw new FhirError('store-unavailable', `There is no room for ${path}`);
    throw error;
  } finally {
    await thread.close();
    rmSync(partial, { force: true });
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
