import { randomUUID } from 'node:crypto';
import { chmod, mkdir, open, readdir, rename, rm, stat, type FileHandle } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';

import { appendWhole, CutLine } from './append-whole.js';
import type { LineTarget } from './lines.js';

/** A file is begun anew when it has this size, in bytes; so many before it are kept. */
export interface Rotation {
  readonly size: number;
  readonly kept: number;
}

/** Where nothing else is said. */
export const ROTATION: Rotation = { size: 100 * 1024 * 1024, kept: 10 };

/** For its owner alone: it says who saw what. */
const MODE = 0o600;

/** How long a file is taken for the one of its name, in milliseconds. */
const LOOK_AGAIN = 100;

/**
 * Appends lines to a file, which several processes may do. At a size it becomes `FILE.` and the time; the
 * oldest of those go.
 *
 * @throws Error where the file cannot be made or appended to
 */
export async function openFileTarget(file: string, { size, kept }: Rotation = ROTATION): Promise<LineTarget> {
  await mkdir(dirname(file), { recursive: true });
  let handle = await openOwn(file);

  /** Bytes that still fit, as far as we know: others may write too. */
  let room = 0;
  /** By the monotonic clock; long ago at first. */
  let looked = -Infinity;
  /** The file ends within a line. */
  let isCut = false;

  /** Whether the file that is open is still the one of that name, and how large it is. */
  async function look(): Promise<{ readonly isOurs: boolean; readonly bytes: number }> {
    const [own, named] = await Promise.all([handle.stat(), stat(file).catch(() => undefined)]);
    return { isOurs: own.ino === named?.ino, bytes: own.size };
  }

  async function settle(): Promise<void> {
    const { isOurs, bytes } = await look();
    room = size - bytes;
    // Another process has rotated, or an administrator has.
    if (!isOurs || bytes >= size) {
      if (isOurs) await rotate(file, kept);
      await handle.close();
      handle = await openOwn(file);
      room = size - (await handle.stat()).size;
    }
    looked = performance.now();
  }

  return {
    async append(lines) {
      if (room <= 0 || performance.now() - looked >= LOOK_AGAIN) await settle();
      try {
        await appendWhole(handle, isCut ? Buffer.concat([NEWLINE, lines]) : lines);
        isCut = false;
      } catch (error) {
        isCut ||= error instanceof CutLine;
        throw error;
      }
      room -= lines.length;
    },
    close: () => handle.close(),
  };
}

const NEWLINE = Buffer.from('\n');

async function openOwn(file: string): Promise<FileHandle> {
  const handle = await open(file, 'a+', MODE);
  // One that was there may be open to others.
  await chmod(file, MODE);
  return handle;
}

/** Its time and a name of its own, so that two processes that rotate at once overwrite nothing. */
async function rotate(file: string, kept: number): Promise<void> {
  const name = `${file}.${new Date().toISOString().replace(/[:.]/g, '-')}.${randomUUID().slice(0, 8)}`;
  await rename(file, name).catch(unlessGone);
  const old = (await readdir(dirname(file))).filter((each) => each.startsWith(`${basename(file)}.`)).sort();
  for (const each of old.slice(0, -kept)) await rm(join(dirname(file), each), { force: true });
}

function unlessGone(error: NodeJS.ErrnoException): void {
  if (error.code !== 'ENOENT') throw error;
}
