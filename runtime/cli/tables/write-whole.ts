import { createWriteStream } from 'node:fs';
import { realpath, rename, rm, stat } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';

/**
 * Writes a file whole, or leaves it as it was; a new one is for its owner alone: the pieces go to one beside it first. What is no file (`/dev/null`) is written to at once.
 *
 * @throws what the pieces throw
 */
export async function writeWhole(file: string, pieces: AsyncIterable<string | Uint8Array>): Promise<void> {
  const write = (to: string, mode = 0o600): Promise<void> => pipeline(pieces, createWriteStream(to, { mode }));
  const before = await stat(file).catch(() => undefined);
  if (before?.isFile() === false) return write(file);
  const place = before === undefined ? file : await realpath(file);
  const part = `${place}.${process.pid}.part`;
  try {
    await write(part, before?.mode);
    await rename(part, place);
  } catch (error) {
    await rm(part, { force: true });
    throw error;
  }
}
