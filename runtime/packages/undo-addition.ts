import { PACKAGE_BLOBS, readPending, readRows, settleRows, type PackageRow, type Pending } from './journal.js';
import { blobSource, type OpenPackages } from './open-packages.js';
import { keyOf, type StoredDefinition } from './plan.js';
import { readPackage, type PackageContents } from './read-package.js';
import { readStoredDefinitions } from './stored-definitions.js';

/** An addition that was begun. */
type BegunAddition = Extract<Pending, { readonly action: 'add' }>;

/** Returns the addition that was begun and has not ended, where a package is one of it; undefined: there is none. */
export async function readBegun(
  store: Parameters<typeof readPending>[0],
  name: string,
): Promise<BegunAddition | undefined> {
  const pending = await readPending(store);
  return pending?.action === 'add' && namesOf(pending).includes(name) ? pending : undefined;
}

/** Returns the names of the packages that an addition is of. */
function namesOf({ files }: BegunAddition): readonly string[] {
  return files.map(({ blob }) => blob.slice(PACKAGE_BLOBS.length));
}

/** Returns the command that undoes an addition. */
export function undoOf(pending: BegunAddition): string {
  return `kiln package remove ${namesOf(pending)[0]}`;
}

/**
 * Enters in the journal what an addition has stored so far, so that it can be removed as what is installed.
 *
 * @returns names of the packages that were not there before
 */
export async function enterBegun({ files }: BegunAddition, open: OpenPackages): Promise<readonly string[]> {
  const { core, reader } = open;
  const packages: PackageContents[] = [];
  for (const { blob, label } of files) packages.push(await readPackage(blobSource(blob, label, core), reader));
  const rows = await readRows(core.store);
  const rowOf = (name: string): PackageRow | undefined => rows.find((row) => row.name === name);
  const changing = packages.flatMap(({ name }) => rowOf(name) ?? []);
  const stored = await readStoredDefinitions(core.store, packages, changing);
  const begun = packages.map((contents) => begunRow(contents, rowOf(contents.name), stored));
  await settleRows(core.store, begun, []);
  return packages.flatMap(({ name }) => (rowOf(name) === undefined ? [name] : []));
}

/** The row of a package of which a part is stored. No archive has its digest, so that the next one is not taken for what is there. */
function begunRow(
  { name, version, resources }: PackageContents,
  before: PackageRow | undefined,
  stored: readonly StoredDefinition[],
): PackageRow {
  const digests = new Set(resources.map(({ digest }) => digest));
  const written = stored.filter(({ tags, digest }) => tags.includes(name) && digests.has(digest));
  const keys = new Set(written.map(keyOf));
  const row = before ?? {
    ...{ name, version, isDirect: false, profiles: [] },
    ...{ dependencies: {}, asked: {}, overridden: {}, leftOut: {} },
  };
  return {
    ...row,
    sha256: '',
    resources: [
      ...written.map(({ number: _number, tags: _tags, ...each }) => each),
      ...(before?.resources ?? []).filter((each) => !keys.has(keyOf(each))),
    ],
  };
}
