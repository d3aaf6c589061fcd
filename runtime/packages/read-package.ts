import { append } from '../fhir/lists.js';
import { createHash } from 'node:crypto';

import type { Tables } from '../contract/tables.js';
import { readGuideOperation, type GuideOperation } from '../core/definitions/guide-operation.js';
import { FhirError } from '../fhir/errors.js';
import { isId } from '../fhir/id.js';
import { isObject, type JsonValue, type Resource } from '../fhir/resource.js';
import { yieldToEventLoop } from '../fhir/yield-to-event-loop.js';
import { readJson } from '../format/read-json.js';
import { decodeUtf8 } from '../format/utf8.js';
import type { Fault } from '../validate/fault.js';
import { describeFaults } from '../cli/load/faults.js';
import { contentDigest } from './changes/content-digest.js';
import { isSameRelease, MANIFEST, readManifest, type Manifest } from './manifest.js';
import { packageEntries, type PackageLimits, type PackageSource } from './package-entries.js';
import { PackageRefused, type PackageFault } from './package-fault.js';

/** A definition of a package: all that is known of it without its content. */
export interface PackageResource {
  /** In the archive: `package/ValueSet-wards.json`. */
  readonly path: string;
  readonly type: string;
  readonly id: string | undefined;
  readonly url: string | undefined;
  readonly version: string | undefined;
  readonly digest: string;
}

/** A package as it was read, without the contents of its resources. */
export interface PackageContents extends Manifest {
  readonly source: PackageSource;
  /** Of the archive. */
  readonly sha256: string;
  /** Definitions, in the order of their paths. */
  readonly resources: readonly PackageResource[];
  /** How many files were left out, by type. */
  readonly leftOut: ReadonlyMap<string, number>;
  /** Rules that its resources break, of which the server takes no notice: a line each. */
  readonly broken: readonly string[];
  /** Canonical with version of its guide; undefined: it has none. */
  readonly guide: string | undefined;
  /** Type and canonical of the profiles of resource types. */
  readonly profiles: readonly (readonly [string, string])[];
  readonly operations: readonly GuideOperation[];
}

/** Limits, tables and checks that packages are read with. */
export interface PackageReader {
  readonly limits: PackageLimits;
  readonly nesting: number;
  readonly fhirVersion: string;
  readonly tables: Pick<Tables, 'types' | 'resourceTypes'>;
  readonly validate: (resource: Resource) => readonly Fault[];
  /** Rules beyond structure. */
  readonly rules: (resource: Resource) => readonly Fault[];
  /** @throws FhirError where the store cannot hold it */
  readonly checkStorable: (resource: Resource, size: number) => Promise<void>;
}

const RESOURCE = /^package\/[^/]+\.json$/;
const EXAMPLE = /^package\/examples?\/[^/]+\.json$/;

/** Whether a path is that of a file that may have a definition in it. */
export function isResourcePath(path: string): boolean {
  return RESOURCE.test(path) && path !== MANIFEST && path !== 'package/.index.json';
}

/** Whether a path is that of an example. */
export function isExamplePath(path: string): boolean {
  return EXAMPLE.test(path) && !path.endsWith('/.index.json');
}

/** Reads the manifest of a package and nothing else. @throws PackageRefused */
export async function readManifestOf(
  source: PackageSource,
  { limits, nesting, fhirVersion }: Pick<PackageReader, 'limits' | 'nesting' | 'fhirVersion'>,
): Promise<Manifest> {
  for await (const { content } of packageEntries(source, limits, (path) => path === MANIFEST)) {
    const read = readManifest(readJson(decodeUtf8(content), nesting), `${source.label}/${MANIFEST}`, fhirVersion);
    if ('name' in read) return read;
    throw new PackageRefused(read);
  }
  throw new PackageRefused([noManifest(source)]);
}

/**
 * Reads a package whole, one resource at a time, and checks each as a write checks it. Contents are not kept: a package may be larger than
 * memory.
 *
 * @throws PackageRefused with all that is wrong
 */
export async function readPackage(source: PackageSource, reader: PackageReader): Promise<PackageContents> {
  const faults: PackageFault[] = [];
  const resources: PackageResource[] = [];
  const leftOut = new Map<string, number>();
  const broken: string[] = [];
  const guides: { readonly canonical: string; readonly packageId: unknown }[] = [];
  const profiles: (readonly [string, string])[] = [];
  const operations: GuideOperation[] = [];
  let manifest: Manifest | undefined;
  const hash = createHash('sha256');
  const hashed: PackageSource = { label: source.label, open: () => hashing(source.open(), hash) };
  const isDefinition = definitionTest(reader.tables);
  const count = (what: string): void => void leftOut.set(what, (leftOut.get(what) ?? 0) + 1);
  const pace = yieldToEventLoop();

  const take = async (path: string, json: JsonValue, size: number): Promise<void> => {
    if (path === MANIFEST) {
      const read = readManifest(json, `${source.label}/${path}`, reader.fhirVersion);
      if ('name' in read) manifest = read;
      else append(faults, read);
      return;
    }
    if (!isObject(json) || typeof json['resourceType'] !== 'string') return count('files without resourceType');
    const resource = json as Resource;
    const { resourceType: type, id, url, version } = resource;
    if (!isDefinition(type)) return count(reader.tables.resourceTypes.includes(type) ? type : 'unknown types');
    checkRelease(resource, reader.fhirVersion);
    const ownId = typeof id === 'string' && isId(id) ? id : undefined;
    // One that is not legal is replaced.
    const checked = { ...resource, id: ownId ?? 'x' };
    const wrong = reader.validate(checked);
    if (wrong.length > 0) throw new Error(describeFaults(wrong));
    await reader.checkStorable(checked, size);
    for (const { text } of reader.rules(checked)) broken.push(`${source.label}/${path}: ${text}`);
    const canonical = { url: textOf(url), version: textOf(version) };
    resources.push({ path, type, id: ownId, ...canonical, digest: contentDigest(resource) });
    if (canonical.url === undefined) return;
    if (type === 'OperationDefinition') append(operations, [readGuideOperation(resource) ?? []].flat());
    if (type === 'ImplementationGuide') {
      const named = canonical.version === undefined ? canonical.url : `${canonical.url}|${canonical.version}`;
      guides.push({ canonical: named, packageId: resource['packageId'] });
    }
    const { kind, derivation, type: constrained } = resource;
    if (type === 'StructureDefinition' && kind === 'resource' && derivation === 'constraint')
      profiles.push([String(constrained), canonical.url]);
  };

  try {
    const wanted = (path: string): boolean => path === MANIFEST || isResourcePath(path);
    for await (const { path, content } of packageEntries(hashed, reader.limits, wanted)) {
      try {
        await take(path, readJson(decodeUtf8(content), reader.nesting), content.length);
      } catch (error) {
        if (!(error instanceof Error)) throw error;
        const what = error instanceof FhirError ? describeFaults(error.issues) : error.message;
        faults.push({ where: `${source.label}/${path}`, what });
      }
      await pace();
    }
  } catch (error) {
    if (!(error instanceof PackageRefused)) throw error;
    throw new PackageRefused([...error.faults, ...faults]);
  }
  if (manifest === undefined && !faults.some(({ where }) => where.endsWith(MANIFEST))) faults.push(noManifest(source));
  if (faults.length > 0 || manifest === undefined) throw new PackageRefused(faults);
  const { name } = manifest;
  const guide = guides.find(({ packageId }) => packageId === name) ?? guides[0];
  resources.sort((a, b) => (a.path < b.path ? -1 : 1));
  return {
    ...manifest,
    ...{ source, sha256: hash.digest('hex'), resources, leftOut, broken, profiles, operations },
    guide: guide?.canonical,
  };
}

/** The contents of the resources of a package that are at some paths. */
export async function* readContents(
  source: PackageSource,
  { limits, nesting }: Pick<PackageReader, 'limits' | 'nesting'>,
  wanted: (path: string) => boolean,
): AsyncGenerator<{ readonly path: string; readonly resource: Resource; readonly size: number }> {
  for await (const { path, content } of packageEntries(source, limits, wanted)) {
    const json = readJson(decodeUtf8(content), nesting);
    if (!isObject(json) || typeof json['resourceType'] !== 'string') continue;
    yield { path, resource: json as Resource, size: content.length };
  }
}

function noManifest({ label }: PackageSource): PackageFault {
  return { where: label, what: `is no package: there is no ${MANIFEST} in it` };
}

/** Refuses a definition that says itself that it is of another version of FHIR. */
function checkRelease({ fhirVersion }: Resource, wanted: string): void {
  const named = [fhirVersion ?? []].flat().filter((each) => typeof each === 'string');
  if (named.length === 0 || named.some((each) => isSameRelease(each, wanted))) return;
  throw new Error(
    `its fhirVersion is ${named.join(', ')}, not ${wanted}; take the edition of the guide for this version`,
  );
}

/** Whether resources of a type are definitions: those that have a canonical, and say whether they are experimental. */
function definitionTest({ types }: Pick<Tables, 'types'>): (type: string) => boolean {
  const rows = new Map(types.map((row) => [row.name, row]));
  return (type) => {
    const names = new Set(rows.get(type)?.elements.map(({ name }) => name));
    return names.has('url') && names.has('experimental');
  };
}

async function* hashing(chunks: AsyncIterable<Buffer>, hash: ReturnType<typeof createHash>): AsyncGenerator<Buffer> {
  for await (const chunk of chunks) {
    hash.update(chunk);
    yield chunk;
  }
}

function textOf(value: JsonValue | undefined): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}
