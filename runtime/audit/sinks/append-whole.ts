import type { FileHandle } from 'node:fs/promises';

/** A file that is open to be read and appended to. */
export type Appended = Pick<FileHandle, 'write' | 'stat' | 'read' | 'truncate'>;

/** An attempt failed, and left the begin of a line in the file that cannot be taken back: another process has gone on after it. */
export class CutLine extends Error {}

/**
 * Appends all or nothing: of what a full disk takes only a part of, that part is removed again.
 *
 * @throws CutLine; Error as the file system has it
 */
export async function appendWhole(file: Appended, bytes: Buffer): Promise<void> {
  let done = 0;
  try {
    while (done < bytes.length) done += (await file.write(bytes, done)).bytesWritten;
  } catch (error) {
    if (done > 0 && !(await takeBack(file, bytes.subarray(0, done)))) {
      throw new CutLine(error instanceof Error ? error.message : String(error), { cause: error });
    }
    throw error;
  }
}

/** @returns whether these bytes were the end of the file, and are no more */
async function takeBack(file: Appended, bytes: Buffer): Promise<boolean> {
  const from = (await file.stat()).size - bytes.length;
  if (from < 0) return false;
  const end = Buffer.alloc(bytes.length);
  await file.read(end, 0, end.length, from);
  if (!end.equals(bytes)) return false;
  await file.truncate(from);
  return true;
}
