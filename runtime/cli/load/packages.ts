import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { createGunzip } from 'node:zlib';

import { ConfigError } from '../../config/config-error.js';
import type { JsonValue } from '../../fhir/resource.js';
import { writeJson } from '../../format/write-json.js';
import { fhirVersionsOf, otherReleases } from '../../packages/manifest.js';
import { derivedId } from '../../packages/plan.js';
import { kindOf } from './document.js';
import type { FoundFile, SourceFile } from './find-files.js';
import type { LoadItem } from './items.js';
import { untar } from './untar.js';

const MANIFEST = 'package.json';

/** Greatest size of a manifest, in bytes. */
const MAX_MANIFEST = 1024 * 1024;

/**
 * Finds the FHIR packages among files: archives, and folders that have a manifest with `fhirVersions`.
 * https://hl7.org/fhir/R5/packages.html
 *
 * @param version of FHIR that packages have to be for: `5.0.0`
 * @returns the paths of archives and folders
 * @throws ConfigError that names packages for other versions of FHIR
 */
export async function findPackages(files: readonly FoundFile[], version: string): Promise<readonly string[]> {
  const packages: string[] = [];
  const wrong: string[] = [];
  for (const file of files) {
    if (!('path' in file)) continue;
    const found = await manifestOf(file);
    if (found === undefined) continue;
    const manifest = parse(found.text);
    if (fhirVersionsOf(manifest) === undefined) continue;
    packages.push(found.root);
    const others = otherReleases(manifest, version);
    if (others !== undefined)
      wrong.push(
        `${found.root} is for FHIR ${others.join(', ')} (fhirVersions in its ${MANIFEST}), not for ${version}`,
      );
  }
  if (wrong.length > 0) throw new ConfigError(`nothing was loaded: ${wrong.join('; ')}`);
  return packages;
}

async function manifestOf(file: SourceFile): Promise<{ readonly root: string; readonly text: string } | undefined> {
  const { path, size } = file;
  // What cannot be read is reported where it is loaded.
  if (basename(path) === MANIFEST) {
    const text = size > MAX_MANIFEST ? undefined : await readFile(path, 'utf8').catch(() => undefined);
    return text === undefined ? undefined : { root: dirname(path), text };
  }
  if (kindOf(path)?.form !== 'tar') return undefined;
  const text = await manifestIn(file).catch(() => undefined);
  return text === undefined ? undefined : { root: path, text };
}

/** The manifest is mostly the first file of an archive; no more of it is read then. */
async function manifestIn({ path }: SourceFile): Promise<string | undefined> {
  const raw = createReadStream(path);
  const content = kindOf(path)?.gzip === true ? raw.on('error', () => {}).pipe(createGunzip()) : raw;
  try {
    for await (const entry of untar(content, (name) => /^(?:\.\/)?package\/package\.json$/.test(name), MAX_MANIFEST)) {
      return entry.content?.toString('utf8');
    }
    return undefined;
  } finally {
    raw.destroy();
    content.destroy();
  }
}

function parse(text: string): JsonValue {
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    return null;
  }
}

/** The package that a place is in; undefined: it is in none. */
export function packageOf({ place }: Pick<LoadItem, 'place'>, packages: readonly string[]): string | undefined {
  const around = packages.filter((path) => place.startsWith(`${path}/`));
  return around.sort((a, b) => b.length - a.length)[0];
}

/**
 * Whether a place is in a folder of a package that holds something else than resources, such as `other`. They are at its top, and in
 * `example`. https://hl7.org/fhir/R5/packages.html
 */
export function isBesideResources(item: Pick<LoadItem, 'place'>, packages: readonly string[]): boolean {
  const root = packageOf(item, packages);
  if (root === undefined) return false;
  const [first = '', ...others] = item.place.slice(root.length + 1).split('/');
  const folders = first === 'package' && others.length > 0 ? others : [first, ...others];
  return folders.length > 1 && !/^examples?$/.test(folders[0]!);
}

/**
 * A stored resource, or none, under the id that a resource of a package would get. `canonical` is undefined where none is
 * current.
 */
export interface Present {
  readonly canonical: JsonValue | undefined;
}

/**
 * Decides under which of two ids a resource of a package goes: under its own, unless that is of another canonical, or unless it went
 * under the other one before, which it did where its own was of another canonical then.
 *
 * @param own what its own id is of
 * @param other what the id is of that `underOtherId` gives
 */
export function goesUnderOtherId({ resource: { url } }: LoadItem, own: Present, other: Present): boolean {
  return isOther(url, own.canonical) || (own.canonical === undefined && url !== undefined && url === other.canonical);
}

/** Refuses to replace what has another canonical by what a package has. @param present what is there */
export function refuseOther({ resource }: LoadItem, id: string, { canonical }: Present): void {
  if (canonical === undefined || canonical === resource['url']) return;
  const what = `${resource.resourceType}/${id} is there already, ${named(canonical)}`;
  throw new Error(`${what}; the package has ${named(resource['url'])} by the same id, which was not loaded`);
}

/** Whether two resources of one type and id are different things, each found by its canonical. */
function isOther(url: JsonValue | undefined, present: JsonValue | undefined): boolean {
  return typeof url === 'string' && typeof present === 'string' && url !== present;
}

/** An item of a package under another id, because its own is that of another canonical: the same one whenever it is loaded. */
export function underOtherId(item: LoadItem): LoadItem {
  const { resource, id = '' } = item;
  const other = derivedId({ id, url: String(resource['url']) });
  return { ...item, id: other, resource: { ...resource, id: other } };
}

/**
 * Returns what finds out that another package, of those that are loaded together, has something else of the same type and id: it would
 * replace it.
 *
 * @param keepsOthers what has another canonical would not
 */
export function openClashes(packages: readonly string[], keepsOthers = false): (item: LoadItem) => Error | undefined {
  const seen = new Map<
    string,
    { readonly from: string; readonly digest: string; readonly url: JsonValue | undefined }
  >();
  return (item) => {
    const from = packageOf(item, packages);
    if (from === undefined || item.id === undefined) return undefined;
    const { resource, id } = item;
    const key = `${resource.resourceType}/${id}`;
    const digest = createHash('sha256').update(writeJson(resource)).digest('hex');
    const { url } = resource;
    const other = seen.get(key);
    if (other === undefined) seen.set(key, { from, digest, url });
    if (other === undefined || other.from === from || other.digest === digest) return undefined;
    if (keepsOthers && isOther(url, other.url)) return undefined;
    return new Error(`${from} and ${other.from} have ${difference(key, url, other.url)}; only the latter was loaded`);
  };
}

function difference(key: string, url: JsonValue | undefined, other: JsonValue | undefined): string {
  if (url === other) return `different contents of ${key}`;
  return `a ${key} each, ${named(url)} and ${named(other)}`;
}

/** How a message shows the canonical of a resource. */
function named(url: JsonValue | undefined): string {
  return typeof url === 'string' ? url.slice(0, 200) : 'one without url';
}
