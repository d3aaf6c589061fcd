import { randomUUID } from 'node:crypto';
import { chmod, mkdir, open, readdir, rename, rm, stat, type FileHandle } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';

import { appendWhole, CutLine } from './append-whole.js';
import { compressFile } from './compress-file.js';
import type { LineTarget } from './lines.js';

/**
 * A file is begun anew when it has this size, in bytes. So many before it are kept, and those of so many days, however many these are:
 * otherwise who sends requests fast enough would wash out what was recorded.
 */
export interface Rotation {
  readonly size: number;
  readonly kept: number;
  readonly days: number;
  /** Files that no process has written to for so long are compressed, in milliseconds; other processes may still have one open. */
  readonly idle?: number;
}

/** Where nothing else is said. */
export const ROTATION: Rotation = { size: 100 * 1024 * 1024, kept: 10, days: 30 };

/** For its owner alone: it says who saw what. */
const MODE = 0o600;

const IDLE = 10_000;
const DAY = 24 * 3_600_000;

/** How long a file is taken for the one of its name, in milliseconds. */
const LOOK_AGAIN = 100;

/**
 * Appends lines to a file, which several processes may do. At a size it becomes `FILE.` and the time; those before it become
 * `.gz`, and the oldest go when nothing keeps them any more.
 *
 * @throws Error where the file cannot be made or appended to
 */
export async function openFileTarget(file: string, rotation: Rotation = ROTATION): Promise<LineTarget> {
  const { size, idle = IDLE } = rotation;
  await mkdir(dirname(file), { recursive: true });
  const closing = new AbortController();
  let compressing = Promise.resolve();
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
      if (isOurs) {
        await rotate(file, rotation);
        compressing = compressing.then(() => compressIdle(file, idle, closing.signal));
      }
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
    async close() {
      closing.abort();
      await compressing;
      await handle.close();
    },
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
async function rotate(file: string, { kept, days }: Rotation): Promise<void> {
  const name = `${file}.${new Date().toISOString().replace(/[:.]/g, '-')}.${randomUUID().slice(0, 8)}`;
  await rename(file, name).catch(unlessGone);
  const oldest = Date.now() - days * DAY;
  for (const each of (await rotated(file)).slice(0, -kept)) {
    // When it was last written to, or compressed, which is later.
    const written = await stat(each).catch(() => undefined);
    if (written !== undefined && written.mtimeMs < oldest) await rm(each, { force: true });
  }
}

/** From the oldest to the newest. */
async function rotated(file: string): Promise<string[]> {
  const names = (await readdir(dirname(file))).filter((each) => each.startsWith(`${basename(file)}.`));
  return names.sort().map((each) => join(dirname(file), each));
}

/** Where that fails, on a full disk for example, files stay as they are: no event is lost for it. */
async function compressIdle(file: string, idle: number, signal: AbortSignal): Promise<void> {
  for (const each of await rotated(file).catch(() => [])) {
    if (/[.](?:gz|part)$/.test(each)) continue;
    const written = await stat(each).catch(() => undefined);
    if (written === undefined || Date.now() - written.mtimeMs < idle) continue;
    await compressFile(each, signal).catch(() => {});
    if (signal.aborted) return;
  }
}

function unlessGone(error: NodeJS.ErrnoException): void {
  if (error.code !== 'ENOENT') throw error;
}
