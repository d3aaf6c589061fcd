import { isSameRelease, type Manifest } from './manifest.js';
import type { PackageFault } from './package-fault.js';
import { compareVersions, isMoving, satisfies } from './version-number.js';

/** A package that can be taken. */
export interface Candidate extends Manifest {
  /** What messages call it: a file, or `the store`. */
  readonly label: string;
  readonly origin: 'direct' | 'folder' | 'store';
}

/** A package of the store, with what was overridden when it was added. */
export interface StoredCandidate extends Candidate {
  readonly overridden: Readonly<Record<string, string>>;
}

/** Packages to choose from, and the choices of the operator. */
export interface Choices {
  readonly direct: readonly Candidate[];
  readonly folder: readonly Candidate[];
  readonly stored: readonly StoredCandidate[];
  /** Versions by name: taken whatever is asked for. */
  readonly uses: ReadonlyMap<string, string>;
  readonly allowsDowngrade: boolean;
  readonly fhirVersion: string;
}

/** A package that was chosen. */
export interface Choice {
  readonly candidate: Candidate;
  /** Versions that its dependencies are at. */
  readonly dependencies: Readonly<Record<string, string>>;
  /** What it asked for where it got another version. */
  readonly overridden: Readonly<Record<string, string>>;
}

/** The packages that there will be by name, those of the store that stay as they are included; or why not. */
export interface Resolution {
  readonly chosen: ReadonlyMap<string, Choice>;
  readonly faults: readonly PackageFault[];
}

/** A dependency that nothing satisfies, and who has it. */
interface Missing {
  readonly name: string;
  readonly range: string;
  readonly by: string[];
  readonly here: readonly string[];
}

/**
 * Chooses one version of each package that is needed. Circles are no fault: a set of packages has no order. Nothing is fetched.
 *
 * @returns all faults that there are, also of what is needed by the versions that the operator may choose
 */
export function resolvePackages(choices: Choices): Resolution {
  const { direct, stored, uses, fhirVersion } = choices;
  const faults: PackageFault[] = [];
  const missing = new Map<string, Missing>();
  const final = new Map<string, Candidate>();
  const tentative = new Set<string>();
  const neededBy = new Map<string, string>();

  for (const each of direct) {
    const other = final.get(each.name);
    if (isCore(each.name)) faults.push({ where: each.label, what: 'is the core of FHIR: the server itself has it' });
    else if (other !== undefined && other.version !== each.version) {
      const what = `is another version of ${nameOf(other)}, which ${other.label} is; one version of a package can be there`;
      faults.push({ where: each.label, what, remedy: 'give one of the two' });
    } else final.set(each.name, each);
  }
  for (const each of final.values()) {
    const wanted = uses.get(each.name);
    if (wanted !== undefined && wanted !== each.version) {
      faults.push({ where: each.label, what: `is ${nameOf(each)}, but --use says ${each.name}@${wanted}` });
    }
  }

  const queue = [...final.values()];
  for (let asker = queue.shift(); asker !== undefined; asker = queue.shift()) {
    for (const [name, range] of asker.dependencies) {
      const fault = isCore(name) ? faultOfCore(name, range, fhirVersion) : undefined;
      if (fault !== undefined) faults.push({ where: asker.label, what: `${nameOf(asker)} needs ${fault}` });
      if (isCore(name) || final.has(name)) continue;
      const known = keptFor(asker, name, choices);
      const picked = known === undefined ? pick(name, range, choices) : { candidate: known, isWanted: true, here: [] };
      if (!picked.isWanted) reportMissing(name, range, asker, picked.here);
      if (picked.candidate === undefined) continue;
      if (!picked.isWanted) tentative.add(name);
      neededBy.set(name, nameOf(asker));
      final.set(name, picked.candidate);
      queue.push(picked.candidate);
    }
  }

  function reportMissing(name: string, range: string, asker: Manifest, here: readonly string[]): void {
    const key = `${name}@${range}`;
    const known = missing.get(key);
    if (known !== undefined) known.by.push(nameOf(asker));
    else missing.set(key, { name, range, by: [nameOf(asker)], here });
  }

  for (const each of final.values()) {
    const before = stored.find(({ name }) => name === each.name);
    if (before === undefined || choices.allowsDowngrade || compareVersions(each.version, before.version) >= 0) continue;
    const what = `${nameOf(each)} is older than ${before.version}, which is stored`;
    faults.push({ where: each.label, what, remedy: 'to go back, say --downgrade' });
  }
  for (const each of stored) if (!final.has(each.name)) final.set(each.name, each);

  const chosen = new Map<string, Choice>();
  for (const candidate of final.values()) {
    const dependencies: Record<string, string> = {};
    const overridden: Record<string, string> = {};
    for (const [name, range] of candidate.dependencies) {
      const found = final.get(name);
      if (isCore(name)) dependencies[name] = fhirVersion;
      if (found === undefined) {
        // Others of the store may have been left without by --force.
        if (!isCore(name) && candidate.origin !== 'store' && !missing.has(`${name}@${range}`))
          reportMissing(name, range, candidate, []);
        continue;
      }
      dependencies[name] = found.version;
      if (satisfies(found.version, range)) continue;
      overridden[name] = range;
      const asked = missing.get(`${name}@${range}`);
      if (asked !== undefined) asked.by.push(nameOf(candidate));
      const before = candidate.origin === 'store' ? (candidate as StoredCandidate).overridden : {};
      const wasSo =
        before[name] === range && stored.some((each) => each.name === name && each.version === found.version);
      if (uses.get(name) === found.version || wasSo || asked !== undefined || tentative.has(name)) continue;
      const by = neededBy.get(name);
      const what = `${nameOf(candidate)} needs ${name}@${range}, but ${found.version} is taken${by === undefined ? '' : ` (needed by ${by})`}`;
      faults.push({ where: candidate.label, what, remedy: `to take it for both: --use ${name}@${found.version}` });
    }
    chosen.set(candidate.name, { candidate, dependencies, overridden });
  }
  return { chosen, faults: [...faults, ...[...missing.values()].map(toFault)] };
}

/** What a package of the store was given in place of what it asks for, as long as nothing else is wanted. */
function keptFor({ origin, name: own }: Candidate, name: string, { stored, uses }: Choices): Candidate | undefined {
  const asker = origin === 'store' ? stored.find((each) => each.name === own) : undefined;
  if (asker?.overridden[name] === undefined || uses.has(name)) return undefined;
  return stored.find((each) => each.name === name);
}

/** A candidate for a dependency; not wanted: the newest that is there, to go on with. */
function pick(
  name: string,
  range: string,
  { folder, stored, uses }: Choices,
): { readonly candidate?: Candidate; readonly isWanted: boolean; readonly here: readonly string[] } {
  const all = [...stored, ...folder].filter((each) => each.name === name);
  const here = [...new Set(all.map(({ version }) => version))].sort(compareVersions);
  const newest = (which: readonly Candidate[]): Candidate | undefined =>
    [...which].sort((a, b) => compareVersions(b.version, a.version))[0];
  const use = uses.get(name);
  const isFit = ({ version }: Candidate): boolean =>
    use === undefined ? !isMoving(range) && satisfies(version, range) : version === use;
  const fitting = all.filter(isFit);
  const found = fitting.find(({ origin }) => origin === 'store') ?? newest(fitting);
  if (found !== undefined) return { candidate: found, isWanted: true, here };
  const other = newest(all);
  return { ...(other !== undefined && { candidate: other }), isWanted: false, here };
}

function toFault({ name, range, by, here }: Missing): PackageFault {
  const why = isMoving(range) ? 'names no fixed version' : 'is missing';
  const newest = here.at(-1);
  const remedy =
    newest === undefined
      ? 'put its archive beside the file, or name its folder with --from'
      : `${here.join(' and ')} ${here.length > 1 ? 'are' : 'is'} here: --use ${name}@${newest}`;
  return { where: `${name}@${range}`, what: `(needed by ${[...new Set(by)].join(' and ')}) ${why}`, remedy };
}

/** Whether a name is that of a package of FHIR itself: `hl7.fhir.r5.core`, or `hl7.fhir.core` of old. */
export function isCore(name: string): boolean {
  return /^hl7\.fhir\.(?:r\d+b?\.)?core$/.test(name);
}

function faultOfCore(name: string, range: string, fhirVersion: string): string | undefined {
  const isOwn = name === 'hl7.fhir.core' || name === `hl7.fhir.r${fhirVersion.split('.')[0]}.core`;
  if (isOwn && (isMoving(range) || isSameRelease(range, fhirVersion))) return undefined;
  return `${name}@${range}: another version of FHIR than ${fhirVersion}`;
}

/** How messages name a package. */
export function nameOf({ name, version }: Pick<Manifest, 'name' | 'version'>): string {
  return `${name}@${version}`;
}
