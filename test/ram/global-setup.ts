import type { TestProject } from 'vitest/node';

import { openRamFolder } from './ram-folder.js';

/** Vitest calls it before a run, for each project. */
export function setup(project: TestProject): (() => void) | undefined {
  const folder = ramFolderOf(project);
  return folder === undefined ? undefined : openRamFolder(folder);
}

/** Where the temporary files of a project are, if it has a place of its own. */
export function ramFolderOf({ config }: TestProject): string | undefined {
  // The project above all others has no environment.
  return (config.env as Partial<typeof config.env> | undefined)?.['TMPDIR'];
}
