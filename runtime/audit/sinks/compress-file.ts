import { randomUUID } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { open, rename, rm, stat } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { constants, createGzip } from 'node:zlib';

/** Lines of events are much alike: more effort takes twice the time for a fifth of the size. */
const LEVEL = constants.Z_BEST_SPEED + 1;

/** Bytes that are compressed at once: each piece interrupts the thread that answers requests several times. */
const PIECE = 1024 * 1024;

/**
 * Puts `FILE.gz` in the place of a file, with its mode. Two processes that compress the same file leave the same result. A file that
 * grew meanwhile stays as it is.
 *
 * @throws Error as the file system has it, or the reason of the signal; the file is as it was then
 */
export async function compressFile(file: string, signal: AbortSignal): Promise<void> {
  const part = `${file}.${randomUUID().slice(0, 8)}.part`;
  try {
    const mode = (await stat(file)).mode & 0o777;
    const source = createReadStream(file, { highWaterMark: PIECE });
    const packed = createWriteStream(part, { flags: 'wx', mode });
    await pipeline(source, createGzip({ level: LEVEL, chunkSize: PIECE }), packed, { signal });
    await sync(part);
    if ((await stat(file)).size !== source.bytesRead) return;
    await rename(part, `${file}.gz`);
    await rm(file, { force: true });
  } finally {
    await rm(part, { force: true });
  }
}

/** The file that it replaces goes, so it has to be on the disk. */
async function sync(file: string): Promise<void> {
  const handle = await open(file, 'r+');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
