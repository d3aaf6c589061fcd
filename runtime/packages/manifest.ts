import { isObject, type JsonValue } from '../fhir/resource.js';
import type { PackageFault } from './package-fault.js';
import { isVersionNumber } from './version-number.js';

/** Manifest of a package: `package/package.json`. https://confluence.hl7.org/display/FHIR/NPM+Package+Specification */
export interface Manifest {
  readonly name: string;
  readonly version: string;
  /** Versions by the names of packages that they are wanted of. */
  readonly dependencies: ReadonlyMap<string, string>;
}

/** Where the manifest is. */
export const MANIFEST = 'package/package.json';

/** Parts of letters, digits and dashes, two at least, with dots between them; letters are lower case here. */
const NAME = /^[a-z0-9][a-z0-9-]*(?:\.[a-z0-9][a-z0-9-]*)+$/;

/** Whether two versions of FHIR are of one release: `5.0.0-ballot` and `5.0.0`. */
export function isSameRelease(one: string, other: string): boolean {
  const release = (text: string): string => text.split('.').slice(0, 2).join('.');
  return release(one) === release(other);
}

/** Returns the versions of FHIR that a manifest names; undefined: it names none, and so is that of no FHIR package. */
export function fhirVersionsOf(manifest: JsonValue): readonly string[] | undefined {
  if (!isObject(manifest)) return undefined;
  const versions = manifest['fhirVersions'] ?? manifest['fhir-version-list'];
  return Array.isArray(versions) && versions.length > 0 ? versions.map(String) : undefined;
}

/** Returns the versions of FHIR that a manifest names where the wanted one is not among them. */
export function otherReleases(manifest: JsonValue, fhirVersion: string): readonly string[] | undefined {
  const versions = fhirVersionsOf(manifest);
  return versions?.some((each) => isSameRelease(each, fhirVersion)) === false ? versions : undefined;
}

/** Whether a name is that of a package. Case does not make another one. */
export function isPackageName(name: string): boolean {
  return NAME.test(name.toLowerCase());
}

/**
 * Reads a manifest.
 *
 * @param where it is, for faults
 * @param fhirVersion the version of FHIR that the server is of
 */
export function readManifest(json: JsonValue, where: string, fhirVersion: string): Manifest | readonly PackageFault[] {
  if (!isObject(json)) return [{ where, what: 'is no JSON object' }];
  const faults: PackageFault[] = [];
  const { name, version } = json;
  if (typeof name !== 'string' || !isPackageName(name)) {
    const remedy = 'a package is named as hl7.fhir.uv.ips is: two parts or more, of letters, digits and dashes';
    faults.push({ where, what: `name ${shown(name)} is no name of a package`, remedy });
  }
  if (typeof version !== 'string' || !isVersionNumber(version)) {
    faults.push({ where, what: `version ${shown(version)} is no version`, remedy: 'one is 1.0.0 or 2.0.0-ballot' });
  }
  const versions = otherReleases(json, fhirVersion);
  if (versions !== undefined) {
    const what = `is for FHIR ${versions.join(', ').slice(0, 100)} (fhirVersions), not for ${fhirVersion}`;
    faults.push({ where, what, remedy: 'take the edition of the guide for this version' });
  }
  const dependencies = dependenciesOf(json['dependencies'] ?? {}, where, faults);
  if (faults.length > 0) return faults;
  return { name: String(name).toLowerCase(), version: String(version), dependencies };
}

/** An alias `npm:name@version` names another package than its key in `dependencies`. */
function dependenciesOf(json: JsonValue, where: string, faults: PackageFault[]): Map<string, string> {
  const found = new Map<string, string>();
  for (const [key, value] of isObject(json) ? Object.entries(json) : []) {
    const alias = /^npm:(.+)@([^@]+)$/.exec(String(value));
    const name = (alias?.[1] ?? key).toLowerCase();
    if (isPackageName(name)) found.set(name, alias?.[2] ?? String(value));
    else faults.push({ where, what: `the dependency ${shown(key)} is no name of a package` });
  }
  return found;
}

function shown(value: unknown): string {
  return value === undefined ? '(missing)' : JSON.stringify(value).slice(0, 100);
}
