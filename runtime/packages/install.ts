import { append } from '../fhir/lists.js';
import type { Core } from '../server.js';
import { VersionConflict } from '../store/store.js';
import { applyPlan, type ApplyParts } from './apply.js';
import {
  beginPending,
  endPending,
  PACKAGE_BLOBS,
  readPending,
  readRows,
  settleRows,
  type PackageRow,
  type Pending,
} from './journal.js';
import { blobSource, type OpenPackages } from './open-packages.js';
import type { PackageSource } from './package-entries.js';
import { PackageRefused, type PackageFault } from './package-fault.js';
import { planPackages, type Plan } from './plan.js';
import { readManifestOf, readPackage, type PackageContents } from './read-package.js';
import { nameOf, resolvePackages, type Candidate, type Choice } from './resolve.js';
import { settleEmptyTypes } from './start-reindexing.js';
import { readStoredDefinitions } from './stored-definitions.js';
import { topicsInUse } from './topics-in-use.js';
import { undoOf } from './undo-addition.js';

/** Request to add packages: the packages, and the operator's choices. */
export interface AddRequest {
  /** Packages that the operator names. */
  readonly direct: readonly PackageSource[];
  /** Archives that dependencies may be taken from. */
  readonly folder: readonly PackageSource[];
  readonly uses: ReadonlyMap<string, string>;
  readonly allowsDowngrade: boolean;
  /** Whether another content of a version that is there, and what users changed, is replaced. */
  readonly replaces: boolean;
  /** It was begun: what has been decided is not asked again. What users change meanwhile is no part of that. */
  readonly isBegun?: true;
}

/** Effects of an addition, computed before anything is written. */
export interface Addition {
  /** Packages that are new or another version. */
  readonly packages: readonly PackageContents[];
  /** Those that are there as they are given. */
  readonly present: readonly PackageRow[];
  /** Rows that are new or change. */
  readonly rows: readonly PackageRow[];
  readonly plan: Plan;
}

/**
 * Finds out what an addition would do; nothing is written.
 *
 * @throws PackageRefused with all that is wrong
 */
export async function prepareAddition(request: AddRequest, open: OpenPackages): Promise<Addition> {
  const { core, reader } = open;
  const faults: PackageFault[] = [];
  const isBegun = request.isBegun === true;
  const replaces = isBegun || request.replaces;
  const collect = async <T>(work: Promise<T>): Promise<T[]> => {
    try {
      return [await work];
    } catch (error) {
      if (!(error instanceof PackageRefused)) throw error;
      append(faults, error.faults);
      return [];
    }
  };
  const read: PackageContents[] = [];
  for (const source of request.direct) append(read, await collect(readPackage(source, reader)));
  const folder: (Candidate & { readonly source: PackageSource })[] = [];
  for (const source of request.folder) {
    // What is no package, or is for another version of FHIR, is nothing that could be taken.
    const manifest = await readManifestOf(source, reader).catch(() => undefined);
    if (manifest !== undefined) folder.push({ ...manifest, source, label: source.label, origin: 'folder' });
  }
  const rows = await readRows(core.store);
  const generated = core.tables.guides ?? [];
  for (const { name, version, source } of read) {
    if (!generated.some((each) => each.name === name)) continue;
    const remedy = 'npx kiln generate --guide FILE takes another version, where the server was made';
    faults.push({ where: source.label, what: `${nameOf({ name, version })} is a part of the server itself`, remedy });
  }
  const { chosen, faults: unresolved } = resolvePackages({
    ...{
      uses: request.uses,
      allowsDowngrade: isBegun || request.allowsDowngrade,
      fhirVersion: reader.fhirVersion,
      folder,
    },
    direct: read.map((each) => ({ ...each, label: each.source.label, origin: 'direct' })),
    stored: [
      ...rows.map((row) => ({
        ...{ name: row.name, version: row.version, overridden: row.overridden },
        ...{ dependencies: new Map(Object.entries(row.asked)), label: 'the store', origin: 'store' as const },
      })),
      ...generated.map(({ name, version }) => ({
        ...{ name, version, overridden: {}, dependencies: new Map<string, string>() },
        ...{ label: 'the server', origin: 'store' as const },
      })),
    ],
  });
  append(faults, unresolved);
  for (const { name, version, source } of folder) {
    const { candidate } = chosen.get(name) ?? {};
    const isTaken = candidate?.origin === 'folder' && candidate.version === version && candidate.label === source.label;
    if (isTaken) append(read, await collect(readPackage(source, reader)));
  }
  const present: PackageRow[] = [];
  const packages: PackageContents[] = [];
  for (const contents of read) {
    if (packages.some(({ name }) => name === contents.name)) continue;
    const row = rows.find(({ name, version }) => name === contents.name && version === contents.version);
    const isSame = row !== undefined && (row.sha256 === contents.sha256 || hasSameContent(row, contents));
    if (isSame && !replaces) present.push(row);
    else packages.push(contents);
    if (row === undefined || isSame || replaces) continue;
    const what = `${nameOf(contents)} is stored with another content`;
    faults.push({ where: contents.source.label, what, remedy: 'to put this one in its place, say --replace' });
  }
  if (faults.length > 0) throw new PackageRefused(faults);

  const changing = rows.filter(({ name }) => packages.some((each) => each.name === name));
  const stored = await readStoredDefinitions(core.store, packages, changing);
  const plan = planPackages({ packages, removed: [], rows, stored, replaces: request.replaces });
  append(faults, plan.faults);
  append(faults, await topicsInUse(plan, packages, open));
  if (faults.length > 0) throw new PackageRefused(faults);
  return { packages, present, plan, rows: rowsAfter({ request, read, packages, chosen, rows, plan }) };
}

/**
 * Adds packages, or finishes an addition. The archives are kept in the store until all is written, so that what is killed can be finished
 * without them.
 */
export async function install(
  request: AddRequest & { readonly hasExamples: boolean },
  first: Addition,
  open: OpenPackages,
  {
    signal,
    storeExamples,
  }: { readonly signal: AbortSignal; readonly storeExamples: (contents: PackageContents) => Promise<void> },
): Promise<Addition> {
  const { core } = open;
  await beginAddition(request, first, core);
  let addition = first;
  for (let tries = 1; ; tries++) {
    try {
      await applyPlan(addition.plan, addition.packages, applying(open, signal));
      break;
    } catch (error) {
      if (!(error instanceof VersionConflict) || tries === MOST_TRIES) throw error;
      // A client wrote meanwhile: what is done counts as done in another plan.
      addition = await prepareAgain({ ...request, isBegun: true }, open);
    }
  }
  if (request.hasExamples) for (const contents of addition.packages) await storeExamples(contents);
  await settleRows(core.store, addition.rows, []);
  await endPending(core.store);
  await core.definitions.look();
  return addition;
}

const MOST_TRIES = 5;

/** Plans an addition that was begun. @throws PackageRefused that says, too, how to undo it */
async function prepareAgain(request: AddRequest, open: OpenPackages): Promise<Addition> {
  try {
    return await prepareAddition(request, open);
  } catch (error) {
    const pending = await readPending(open.core.store);
    if (!(error instanceof PackageRefused) || pending?.action !== 'add') throw error;
    const where = `kiln package add ${pending.files.map(({ label }) => label).join(' ')}`;
    const what = 'was begun and cannot be finished so: a part of it is stored';
    const remedy = `mend that and call it again, or undo it: ${undoOf(pending)}`;
    throw new PackageRefused([...error.faults, { where, what, remedy }]);
  }
}

/** Removes packages: what they brought, and no other package has. @throws PackageRefused where a topic of them is in use */
export async function uninstall(names: readonly string[], open: OpenPackages, signal: AbortSignal): Promise<Plan> {
  const { core } = open;
  for (let tries = 1; ; tries++) {
    const rows = await readRows(core.store);
    const stored = await readStoredDefinitions(
      core.store,
      [],
      rows.filter((row) => names.includes(row.name)),
    );
    const plan = planPackages({ packages: [], removed: names, rows, stored, replaces: false });
    const faults = await topicsInUse(plan, [], open);
    if (faults.length > 0) throw new PackageRefused(faults);
    if (tries === 1) await beginPending(core.store, { action: 'remove', names });
    try {
      await applyPlan(plan, [], applying(open, signal));
    } catch (error) {
      if (!(error instanceof VersionConflict) || tries === MOST_TRIES) throw error;
      continue;
    }
    await settleRows(core.store, [], names);
    await endPending(core.store);
    await core.definitions.look();
    return plan;
  }
}

/** References of definitions are stored as they are. */
function applying(open: OpenPackages, signal: AbortSignal): ApplyParts {
  const { store, extract, refit, limits } = open.core;
  return { store, extract, refit, limits, reader: open.reader, signal, afterParameters: () => settleEmptyTypes(open) };
}

/**
 * Finishes what a killed command had begun.
 *
 * @param replaced labels of archives whose content may take the place of what users changed meanwhile
 * @returns what that was; undefined: there is nothing
 * @throws PackageRefused where it can not be finished
 */
export async function finishPending(
  open: OpenPackages,
  parts: Parameters<typeof install>[3],
  replaced: readonly string[] = [],
): Promise<Pending | undefined> {
  const pending = await readPending(open.core.store);
  if (pending?.action === 'remove') await uninstall(pending.names, open, parts.signal);
  if (pending?.action === 'add') {
    const sources = pending.files.map((file) => ({ ...file, ...blobSource(file.blob, file.label, open.core) }));
    const request = {
      ...{ direct: sources.filter(({ isDirect }) => isDirect), folder: sources.filter(({ isDirect }) => !isDirect) },
      ...{ uses: new Map(pending.uses), hasExamples: pending.hasExamples, isBegun: true as const },
      ...{
        allowsDowngrade: false,
        replaces: pending.replaces === true || pending.files.some(({ label }) => replaced.includes(label)),
      },
    };
    await install(request, await prepareAgain(request, open), open, parts);
  }
  return pending;
}

async function beginAddition(
  request: AddRequest & { readonly hasExamples: boolean },
  { packages, rows }: Addition,
  { store }: Pick<Core, 'store'>,
): Promise<void> {
  if ((await readPending(store)) !== undefined) return;
  const files: { readonly blob: string; readonly label: string; readonly isDirect: boolean }[] = [];
  for (const { name, source, sha256 } of packages) {
    const blob = `${PACKAGE_BLOBS}${name}`;
    const put = await store.blobs.put(blob, source.open(), Infinity);
    if (put.sha256 !== sha256) throw new Error(`${source.label} changed while it was read; call the command again`);
    files.push({ blob, label: source.label, isDirect: rows.find((row) => row.name === name)?.isDirect === true });
  }
  const { hasExamples, uses, replaces } = request;
  await beginPending(store, { action: 'add', files, uses: [...uses], hasExamples, replaces });
}

interface Outcome extends Pick<Addition, 'packages' | 'plan'> {
  readonly request: AddRequest;
  readonly read: readonly PackageContents[];
  readonly chosen: ReadonlyMap<string, Choice>;
  readonly rows: readonly PackageRow[];
}

/** Rows of what is new, and of what was there and is now asked for, or has other versions to depend on. */
function rowsAfter({ request, read, packages, chosen, rows, plan }: Outcome): PackageRow[] {
  const named = new Set(read.filter(({ source }) => request.direct.includes(source)).map(({ name }) => name));
  return [...chosen.values()].flatMap(({ candidate: { name }, dependencies, overridden }) => {
    const before = rows.find((row) => row.name === name);
    const isDirect = named.has(name) || before?.isDirect === true;
    const contents = packages.find((each) => each.name === name);
    if (contents === undefined) {
      if (before === undefined) return [];
      const row = { ...before, isDirect, dependencies, overridden };
      return JSON.stringify(row) === JSON.stringify(before) ? [] : [row];
    }
    const { version, sha256, leftOut, guide, profiles, operations } = contents;
    return {
      ...{ name, version, sha256, isDirect, dependencies, overridden, profiles, operations },
      asked: Object.fromEntries(contents.dependencies),
      resources: plan.resources.get(name) ?? [],
      leftOut: Object.fromEntries(leftOut),
      ...(guide !== undefined && { guide }),
    };
  });
}

function hasSameContent(row: PackageRow, { resources }: PackageContents): boolean {
  const digests = (all: readonly { readonly digest: string }[]): string =>
    all
      .map(({ digest }) => digest)
      .sort()
      .join();
  return digests(row.resources) === digests(resources);
}
