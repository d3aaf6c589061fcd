import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { freemem } from 'node:os';
import { join } from 'node:path';

const SHARED_MEMORY = '/dev/shm';
const PREFIX = 'kiln-tests-';
const GB = 2 ** 30;

/** A run keeps less than half of it there at a time; the rest is for its processes. */
const LEAST_MEMORY = 8 * GB;

/**
 * A folder in memory for the temporary files of this run. Stores flush each write to the disk, and on a slow one the tests would wait for
 * that most of the time. What they check is the same: a process that is killed loses nothing that it wrote, and only a machine that
 * fails would.
 *
 * @returns undefined where there is no such place, too little memory, or TMPDIR names another; it is not there yet, see `openRamFolder`
 */
export function ramFolder(): string | undefined {
  if (process.platform !== 'linux' || process.env['TMPDIR'] !== undefined || !hasMemory()) return undefined;
  const folder = join(SHARED_MEMORY, `${PREFIX}${process.pid}`);
  try {
    const { bavail, bsize } = statfsSync(SHARED_MEMORY);
    return bavail * bsize >= LEAST_MEMORY / 2 && canRunFiles(folder) ? folder : undefined;
  } catch {
    return undefined;
  }
}

/** Makes the folder, and removes those of runs that were killed. @returns what removes it again */
export function openRamFolder(folder: string): () => void {
  mkdirSync(folder, { recursive: true });
  for (const name of readdirSync(SHARED_MEMORY)) {
    if (name.startsWith(PREFIX) && !isRunning(Number(name.slice(PREFIX.length)))) remove(join(SHARED_MEMORY, name));
  }
  return () => remove(folder);
}

/** The memory of a container may have a limit of its own. */
function hasMemory(): boolean {
  const limit = process.constrainedMemory();
  return Math.min(freemem(), limit > 0 ? limit : Infinity) >= LEAST_MEMORY;
}

/** Some tests run a program that they put there, and containers often forbid that. */
function canRunFiles(folder: string): boolean {
  mkdirSync(folder, { recursive: true });
  try {
    const file = join(folder, 'runs');
    writeFileSync(file, '#!/bin/sh\n', { mode: 0o700 });
    return spawnSync(file).status === 0;
  } finally {
    remove(folder);
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

function remove(folder: string): void {
  rmSync(folder, { recursive: true, force: true });
}
