import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  type Stats,
  statSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join, relative } from 'node:path';
import { promisify } from 'node:util';
import * as tar from 'tar';
import { GeneratorError } from '../generator-error.js';
import { digestPackage } from './package-digest.js';

const NAME = /^[a-z0-9][a-z0-9._-]*$/i;
const VERSION = /^[0-9][0-9a-z.+-]*$/i;

/** The folder of a package, and the name and version in its manifest. */
export interface FoundPackage {
  readonly name: string;
  readonly version: string;
  readonly dir: string;
}

/**
 * Finds the folder of a FHIR package.
 *
 * @param request `NAME@VERSION`, or the path of a package tarball (`.tgz`)
 * @param root the checkout. `NAME@VERSION` is searched in its node_modules, then in that of `test/packages`, and otherwise
 *   fetched by `npm pack` into a cache in node_modules
 * @throws GeneratorError naming the searched folders
 */
export async function findPackage(request: string, root: string): Promise<FoundPackage> {
  if (request.endsWith('.tgz') || request.endsWith('.tar.gz')) {
    if (!existsSync(request) || !statSync(request).isFile())
      throw new GeneratorError(`--package ${request}: no such file`);
    // Named by its hash: a tarball with the name of a published package must not be used in place of that one later.
    const digest = createHash('sha256').update(readFileSync(request)).digest('hex');
    return unpack(request, join(cacheOf(root), `file-${digest.slice(0, 32)}`));
  }
  const at = request.lastIndexOf('@');
  const name = request.slice(0, at);
  const version = request.slice(at + 1);
  if (at < 1 || !NAME.test(name) || !VERSION.test(version)) {
    throw new GeneratorError(`--package ${request}: expected NAME@VERSION, or the path of a .tgz file`);
  }
  const [found] = namedPackages(name, version, root);
  return found ?? fetchPackage(name, version, root);
}

/** A package that generated files were made from, as their manifest has it. */
export interface PackageInput {
  readonly name: string;
  readonly version: string;
  /** As `digestPackage` has it. */
  readonly sha256: string;
}

/**
 * Finds the package that generated files were made from, by its digest: several may have the same name and version.
 *
 * @public scripts/build.mjs calls it in `dist/`.
 * @throws GeneratorError where no folder has these files any more
 */
export function findInput({ name, version, sha256 }: PackageInput, root: string): FoundPackage {
  const candidates = [...namedPackages(name, version, root), ...tarballsOf(name, version, root)];
  const found = candidates.find(({ dir }) => digestPackage(dir) === sha256);
  if (found !== undefined) return found;
  throw new GeneratorError(`generated/ was made from ${name}@${version}, whose files are no longer here`, [
    ...candidates.map(({ dir }) => `${relative(root, dir)} has other files: not those with sha256 ${sha256}`),
    'To mend: npm run generate, or npx kiln generate --package with the package that it was made from, then npm run build',
  ]);
}

/** Returns the packages that `NAME@VERSION` may mean without fetching anything, the first choice first. */
export function namedPackages(name: string, version: string, root: string): FoundPackage[] {
  const places = [
    join(root, 'node_modules', name),
    join(root, 'test/packages/node_modules', name),
    join(cacheOf(root), `${name}@${version}`),
  ];
  return places.flatMap((dir) => fitting(dir, name, version));
}

/** Returns the packages that were unpacked of tarballs. */
function tarballsOf(name: string, version: string, root: string): FoundPackage[] {
  const cache = cacheOf(root);
  if (!existsSync(cache)) return [];
  const unpacked = readdirSync(cache).filter((each) => /^file-[0-9a-f]+$/.test(each));
  return unpacked.sort().flatMap((each) => fitting(join(cache, each), name, version));
}

function fitting(dir: string, name: string, version: string): FoundPackage[] {
  const found = describe(dir);
  return found?.name === name && found.version === version ? [found] : [];
}

function cacheOf(root: string): string {
  return join(root, 'node_modules', '.cache', 'kiln-packages');
}

function describe(dir: string): FoundPackage | undefined {
  const file = join(dir, 'package.json');
  if (!existsSync(file)) return undefined;
  const { name, version } = JSON.parse(readFileSync(file, 'utf8')) as { name?: unknown; version?: unknown };
  if (typeof name !== 'string' || typeof version !== 'string') return undefined;
  // Checked, because both go into the header of each file and into the name of a folder.
  if (!NAME.test(name) || !VERSION.test(version)) throw new Error('its name or version is none of a package');
  return { name, version, dir };
}

async function fetchPackage(name: string, version: string, root: string): Promise<FoundPackage> {
  const work = mkdtempSync(join(tmpdir(), 'kiln-pack-'));
  try {
    try {
      await promisify(execFile)('npm', ['pack', `${name}@${version}`, '--silent', '--pack-destination', work]);
    } catch {
      throw new GeneratorError(
        `package ${name}@${version} is neither in node_modules nor under test/packages, and npm cannot fetch it; ` +
          'check name and version, or give the path of its .tgz file',
      );
    }
    const file = readdirSync(work).find((entry) => entry.endsWith('.tgz'));
    if (file === undefined) throw new GeneratorError(`npm pack ${name}@${version} left no file`);
    return unpack(join(work, file), join(cacheOf(root), `${name}@${version}`));
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

/** Unpacks beside `dir` and renames, so that the folder appears whole or not at all, also with two runs at once. */
function unpack(file: string, dir: string): FoundPackage {
  const kept = describe(dir);
  if (kept !== undefined) return kept;
  mkdirSync(dirname(dir), { recursive: true });
  const work = mkdtempSync(`${dir}-unpacking-`);
  try {
    const links: string[] = [];
    const filter = (path: string, entry: tar.ReadEntry | Stats): boolean => {
      if (!isDefinition(path)) return false;
      if ('type' in entry && /Link$/.test(entry.type)) links.push(path);
      return links.length === 0;
    };
    tar.extract({ file, cwd: work, strip: 1, sync: true, filter });
    // Symbolic links could point outside the folder. Packages of the registry have none.
    if (links.length > 0) throw new Error(`${String(links[0])} is a link`);
    if (describe(work) === undefined) throw new Error('it holds no package/package.json');
    if (!existsSync(dir)) renameSync(work, dir);
  } catch (cause) {
    const other = describe(dir);
    if (other !== undefined) return other;
    throw new GeneratorError(
      `--package ${basename(file)}: not a readable package tarball (${(cause as Error).message})`,
    );
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
  const whole = describe(dir);
  if (whole === undefined) throw new GeneratorError(`${dir} is damaged; delete it and run again`);
  return whole;
}

/** Whether a path is `package/X.json`: subfolders, such as those of examples, are not read. */
function isDefinition(path: string): boolean {
  return /^[^/]+\/[^/]+\.json$/.test(path) && !path.startsWith('..');
}
