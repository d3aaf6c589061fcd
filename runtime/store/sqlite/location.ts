import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';

/** A SQLite file, and what to do with it in the end. */
export interface Location {
  readonly file: string;
  /** Deletes the file where it is private and temporary. */
  readonly dispose: () => void;
}

/**
 * The file behind `sqlite:PATH`, its folder made where it is missing; behind `sqlite::memory:` a private temporary one
 * (connections in several threads have to see the same data), which is deleted at exit.
 */
export function locate(url: string): Location {
  const path = url.replace(/^sqlite:/, '');
  if (path !== ':memory:') {
    const file = resolve(path);
    mkdirSync(dirname(file), { recursive: true });
    return { file, dispose: () => {} };
  }
  const folder = mkdtempSync(join(tmpdir(), 'kiln-'));
  const remove = (): void => rmSync(folder, { recursive: true, force: true });
  process.once('exit', remove);
  return {
    file: join(folder, 'kiln.db'),
    dispose: () => {
      process.off('exit', remove);
      remove();
    },
  };
}
