import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { create } from 'tar';
import { isResourcePath, readContents, readManifestOf } from '../../runtime/packages/read-package.js';
import type { Resource } from '../../runtime/fhir/resource.js';
import type { Manifest } from '../../runtime/packages/manifest.js';
import { fileSource, type PackageLimits, type PackageSource } from '../../runtime/packages/package-entries.js';
import { GeneratorError } from '../generator-error.js';
import type { GuidePin } from './definitions.js';
import { digestPackage, filesOf } from './package-digest.js';

/** Limits on packages of guides: the defaults of `limits.package.*`. */
export const GUIDE_LIMITS: PackageLimits & { readonly nesting: number } = {
  ...{ file: 200 * 2 ** 20, unpacked: 2 ** 30, entries: 50_000, resource: 15 * 2 ** 20, nesting: 100 },
};

/** A package of a guide, as a file or as what npm unpacked. */
export interface GuideSource extends Manifest {
  readonly source: PackageSource;
  /** Relative to the checkout; absent: it is in node_modules, by its name. */
  readonly file?: string;
  /** Computes the digest of the archive, or of the folder (`digestPackage`). */
  readonly sha256: () => string;
}

/**
 * Reads the manifest of an archive.
 *
 * @throws PackageRefused where it is no package for this version of FHIR
 */
export async function archiveSource(path: string, root: string, fhirVersion: string): Promise<GuideSource> {
  const source = fileSource(path);
  const manifest = await readManifestOf(source, { limits: GUIDE_LIMITS, nesting: GUIDE_LIMITS.nesting, fhirVersion });
  const file = relative(root, resolve(path)).replaceAll('\\', '/');
  return { ...manifest, source, file, sha256: () => createHash('sha256').update(readFileSync(path)).digest('hex') };
}

/** Returns the packages of guides that npm has installed: all of a name with a dot in it that are for this version of FHIR. */
export async function installedSources(root: string, fhirVersion: string): Promise<GuideSource[]> {
  const found: GuideSource[] = [];
  for (const modules of placesOf(root).filter((each) => existsSync(each)))
    for (const name of readdirSync(modules).sort())
      if (/^[a-z0-9-]+(\.[a-z0-9-]+)+$/.test(name))
        found.push(...(await folderSource(join(modules, name), fhirVersion)));
  return found;
}

/**
 * Finds the package that is pinned.
 *
 * @throws GeneratorError where it is not there, or has another content
 * @throws PackageRefused where it is for another version of FHIR
 */
export async function pinnedSource(pin: GuidePin, root: string, fhirVersion: string): Promise<GuideSource> {
  const { name, version, file, sha256 } = pin;
  const remedy = `to take another one: npx kiln generate --guide FILE`;
  if (file !== undefined && !existsSync(join(root, file)))
    throw new GeneratorError(`definitions/packages.json: ${name}@${version}: there is no file ${file}; ${remedy}`);
  const candidates =
    file !== undefined
      ? [await archiveSource(join(root, file), root, fhirVersion)]
      : (await Promise.all(placesOf(root).map((each) => folderSource(join(each, name), fhirVersion)))).flat();
  const found = candidates.find((each) => each.version === version && each.sha256() === sha256);
  if (found !== undefined) return found;
  const what = candidates.length === 0 ? 'is not installed' : 'has another content than was pinned';
  throw new GeneratorError(`definitions/packages.json: ${name}@${version} ${what}; ${remedy}`);
}

/**
 * Reads the definitions of a package that have a canonical.
 *
 * @param wanted by path in the archive
 */
export async function readDefinitions(
  { source }: Pick<GuideSource, 'source'>,
  wanted: (path: string) => boolean = () => true,
): Promise<Resource[]> {
  const found: Resource[] = [];
  const limits = { limits: GUIDE_LIMITS, nesting: GUIDE_LIMITS.nesting };
  for await (const { resource } of readContents(source, limits, (path) => isResourcePath(path) && wanted(path)))
    if (typeof resource['url'] === 'string') found.push(resource);
  return found;
}

function placesOf(root: string): string[] {
  return [join(root, 'node_modules'), join(root, 'test/packages/node_modules')];
}

/** The package in a folder; none: there is none, or it is for another version of FHIR. */
async function folderSource(dir: string, fhirVersion: string): Promise<GuideSource[]> {
  if (!existsSync(join(dir, 'package.json'))) return [];
  const source = unpackedSource(dir);
  const limits = { limits: GUIDE_LIMITS, nesting: GUIDE_LIMITS.nesting, fhirVersion };
  const manifest = await readManifestOf(source, limits).catch(() => undefined);
  return manifest === undefined ? [] : [{ ...manifest, source, sha256: () => digestPackage(dir) }];
}

/** A folder as the archive that it came from: there is one reader of packages. Its manifest comes first. */
function unpackedSource(cwd: string): PackageSource {
  const options = { cwd, prefix: 'package', portable: true, gzip: { level: 0 } } as const;
  const files = (): string[] => ['package.json', ...filesOf(cwd).filter((each) => each !== 'package.json')];
  return {
    label: cwd,
    async *open(wanted = () => true) {
      const some = files().filter((each) => wanted(`package/${each}`));
      for await (const chunk of create(options, some)) yield chunk as Buffer;
    },
  };
}
