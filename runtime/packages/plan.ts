import { createHash } from 'node:crypto';

import type { PackageRow, ResourceRow } from './journal.js';
import type { PackageFault } from './package-fault.js';
import type { PackageContents, PackageResource } from './read-package.js';
import { nameOf } from './resolve.js';

/** A definition of the store. */
export interface StoredDefinition extends Pick<ResourceRow, 'type' | 'id' | 'url' | 'version' | 'digest'> {
  /** Its version in the store. */
  readonly number: number;
  /** Names of the packages that it is tagged with. */
  readonly tags: readonly string[];
}

/** Input of a plan: the packages that come and go, and what the store has of them. */
export interface PlanInput {
  /** Packages that are new or another version, by name. */
  readonly packages: readonly PackageContents[];
  /** Names of packages that are to go. */
  readonly removed: readonly string[];
  /** All that are installed. */
  readonly rows: readonly PackageRow[];
  /** Those that live with a canonical or an id of the packages, or that these brought. */
  readonly stored: readonly StoredDefinition[];
  /** Whether the packages' content takes the place of what users made of it. */
  readonly replaces: boolean;
}

/** One resource that is to be written: with the content of a package; without `from` it keeps its own, and only its tags change. */
export interface PlannedWrite {
  readonly type: string;
  readonly id: string;
  readonly from?: { readonly package: string; readonly resource: PackageResource };
  /** As it is there; absent: it is not. */
  readonly before?: StoredDefinition;
  /** Names of the packages that it is of. */
  readonly owners: readonly string[];
}

/** Plan of an addition or a removal: the writes and deletions, in any order. */
export interface Plan {
  readonly writes: readonly PlannedWrite[];
  readonly deletions: readonly StoredDefinition[];
  /** Those that would be deleted, had users not changed them: they stay. */
  readonly kept: readonly StoredDefinition[];
  /** The resources of each package, by its name. */
  readonly resources: ReadonlyMap<string, readonly ResourceRow[]>;
  readonly faults: readonly PackageFault[];
}

/** A definition as the plan has it so far. */
interface Planned {
  readonly type: string;
  readonly id: string;
  readonly url: string | undefined;
  version: string | undefined;
  digest: string;
  readonly before?: StoredDefinition;
  from?: PlannedWrite['from'];
  /** Names of the packages that have it. */
  readonly owners: Set<string>;
  /** It was there before any package, or a user wrote another canonical under the id of a package's resource. */
  readonly isUsers: boolean;
  /** Digests of what packages brought under its id. */
  readonly brought?: readonly string[];
}

/**
 * Decides what becomes of each resource. The same canonical and version with the same content is one resource of all packages that have it; with
 * other content a fault, unless it is this package's own; another version takes the place of the one that the package had, or is stored beside
 * those of others. What a user made of a package's resource is not deleted, and overwritten only where it is asked for.
 * https://hl7.org/fhir/R5/references.html#canonical
 */
export function planPackages({ packages, removed, rows, stored, replaces }: PlanInput): Plan {
  const faults: PackageFault[] = [];
  const before = new Map(rows.map((row) => [row.name, row]));
  const leaving = new Set([...removed, ...packages.map(({ name }) => name)]);
  const broughtAs = new Map<string, ResourceRow[]>();
  const hadBy = new Map<string, string[]>();
  for (const row of rows) {
    for (const each of row.resources) {
      if (each.isUsers !== true) broughtAs.set(keyOf(each), [...(broughtAs.get(keyOf(each)) ?? []), each]);
      hadBy.set(keyOf(each), [...(hadBy.get(keyOf(each)) ?? []), row.name]);
    }
  }
  const byKey = new Map<string, Planned>();
  const byCanonical = new Map<string, Planned[]>();
  const enter = (planned: Planned): Planned => {
    byKey.set(keyOf(planned), planned);
    const canonical = canonicalOf(planned);
    byCanonical.set(canonical, [...(byCanonical.get(canonical) ?? []), planned]);
    return planned;
  };
  for (const each of stored) {
    const was = broughtAs.get(keyOf(each)) ?? [];
    const isOther = was.length > 0 && was.every((row) => canonicalOf(row) !== canonicalOf(each));
    const owners = new Set(isOther ? [] : (hadBy.get(keyOf(each)) ?? []).filter((name) => !leaving.has(name)));
    // A command that was killed may have brought it.
    const isUsers = isOther || (was.length === 0 && !each.tags.some((name) => leaving.has(name)));
    const brought = was.map(({ digest }) => digest);
    enter({ ...each, url: each.url, version: each.version, before: each, owners, isUsers, brought });
  }
  const sameVersion = (each: PackageResource): Planned | undefined =>
    byCanonical.get(canonicalOf(each))?.find(({ version }) => version === each.version);

  // What is there already as it should be is claimed before anything is changed.
  const left = packages.flatMap((contents) =>
    contents.resources.flatMap((resource) => {
      const found = sameVersion(resource);
      if (found?.digest !== resource.digest) return [{ contents, resource }];
      found.owners.add(contents.name);
      return [];
    }),
  );
  for (const { contents, resource } of left) {
    const { name, source } = contents;
    const from = { package: name, resource };
    const found = sameVersion(resource);
    if (found !== undefined && found.digest === resource.digest) {
      found.owners.add(name);
    } else if (found !== undefined) {
      const isAsBrought = isEdited(found) && found.brought?.includes(resource.digest) === true;
      if (isOwn(found, name) || isAsBrought) changeOwn(found, from, source.label);
      else faults.push(otherContent(`${source.label}/${resource.path}`, resource, found));
    } else {
      const older = byCanonical.get(canonicalOf(resource))?.find((each) => isOwn(each, name));
      if (older !== undefined) changeOwn(older, from, source.label);
      else {
        const { type, url, version, digest } = resource;
        const id = freeId(resource, (key) => byKey.has(key));
        enter({ type, id, url, version, digest, from, owners: new Set([name]), isUsers: false });
      }
    }
  }

  function isOwn(each: Planned, name: string): boolean {
    const had = before.get(name)?.resources.some((row) => row.isUsers !== true && keyOf(row) === keyOf(each));
    return had === true && !each.isUsers && each.owners.size === 0;
  }
  function changeOwn(each: Planned, from: NonNullable<PlannedWrite['from']>, label: string): void {
    if (!isEdited(each) || replaces) {
      change(each, from);
      return;
    }
    each.owners.add(from.package);
    const row = before.get(from.package);
    const what = `${keyOf(each)} was changed since ${row === undefined ? 'a package' : nameOf(row)} brought it`;
    const remedy = 'nothing of yours is overwritten, unless you say --replace';
    faults.push({ where: `${label}/${from.resource.path}`, what, remedy });
  }
  function change(each: Planned, from: NonNullable<PlannedWrite['from']>): void {
    each.version = from.resource.version;
    each.digest = from.resource.digest;
    each.from = from;
    each.owners.add(from.package);
  }
  function otherContent(where: string, { url, version, type, id }: PackageResource, found: Planned): PackageFault {
    const canonical = url === undefined ? `${type}/${id}` : version === undefined ? url : `${url}|${version}`;
    const [owner] = found.owners;
    const newer = packages.find(({ name }) => name === owner);
    const row = owner === undefined ? undefined : (newer ?? before.get(owner));
    const holder = row === undefined ? 'which no package brought' : `which is of ${nameOf(row)}`;
    const what = `${canonical} has another content than ${found.type}/${found.id}, ${holder}`;
    const remedy = row === undefined ? 'nothing of yours is overwritten: delete that one, or give it another version' : 'the two packages exclude each other: take another version of one'; // prettier-ignore
    return { where, what, remedy };
  }

  const all = [...byKey.values()];
  const gone = all.filter(
    (each) => each.owners.size === 0 && (hadBy.get(keyOf(each)) ?? []).some((name) => leaving.has(name)),
  );
  const isTagged = ({ before: was }: Planned): boolean => was?.tags.some((name) => leaving.has(name)) === true;
  const tagged = (each: Planned): readonly string[] => [...each.owners].sort();
  return {
    faults,
    writes: [
      ...all.filter((each) => !each.isUsers && each.owners.size > 0 && (each.from !== undefined || isTouched(each))),
      ...gone.filter((each) => isEdited(each) && isTagged(each)),
    ].map((each) => ({
      ...{ type: each.type, id: each.id, owners: tagged(each) },
      ...(each.from !== undefined && { from: each.from }),
      ...(each.before !== undefined && { before: each.before }),
    })),
    deletions: gone.flatMap((each) => (each.isUsers || isEdited(each) ? [] : (each.before ?? []))),
    kept: gone.flatMap((each) => (isEdited(each) ? (each.before ?? []) : [])),
    resources: new Map(packages.map(({ name }) => [name, all.filter(({ owners }) => owners.has(name)).map(toRow)])),
  };

  /** Whether other packages have it than before. */
  function isTouched(each: Planned): boolean {
    return [...(hadBy.get(keyOf(each)) ?? [])].sort().join() !== tagged(each).join();
  }
}

/** Whether a user changed what packages brought, or put something else in its place. */
function isEdited({ from, brought = [], digest }: Planned): boolean {
  return from === undefined && brought.length > 0 && !brought.includes(digest);
}

/** The id that a resource goes under where its own is taken, or is none: the same one whenever it is asked. */
export function derivedId({
  id = 'x',
  url = '',
  version = '',
}: Partial<Pick<PackageResource, 'id' | 'url' | 'version'>>): string {
  const digest = createHash('sha256').update(`${url}|${version}`).digest('hex');
  return `${id.slice(0, 47)}-${digest.slice(0, 16)}`;
}

function freeId(resource: PackageResource, isTaken: (key: string) => boolean): string {
  const { type, id } = resource;
  return id !== undefined && !isTaken(`${type}/${id}`) ? id : derivedId(resource);
}

/** Definitions without a canonical are known by their ids. */
function canonicalOf({
  type,
  url,
  id,
}: Pick<PackageResource, 'type'> & Partial<Pick<PackageResource, 'url' | 'id'>>): string {
  return url === undefined ? `${type}/${id}` : `${type} ${url}`;
}

/** Names a resource of the store. */
export function keyOf({ type, id }: { readonly type: string; readonly id: string }): string {
  return `${type}/${id}`;
}

function toRow({ type, id, url, version, digest, isUsers }: Planned): ResourceRow {
  return {
    ...{ type, id, digest },
    ...(url !== undefined && { url }),
    ...(version !== undefined && { version }),
    ...(isUsers && { isUsers }),
  };
}
