import type { Flags } from '../config/read-config.js';
import { counted, EXIT, printable, type Terminal } from '../cli/terminal.js';
import { refusedOrFailed, tellFinished, tellKept } from './add.js';
import { finishPending, uninstall } from './install.js';
import { locked, readRows, type PackageRow } from './journal.js';
import { openPackages, type OpenPackages } from './open-packages.js';
import { withOrphans } from './orphans.js';
import { PackageRefused, type PackageFault } from './package-fault.js';
import { keyOf, type StoredDefinition } from './plan.js';
import type { PackageContents } from './read-package.js';
import { nameOf } from './resolve.js';
import { enterBegun, readBegun } from './undo-addition.js';

/**
 * `kiln package remove NAME`: deletes what a package brought, and no other has, and the dependencies that nothing needs then; history stays.
 *
 * @returns the exit code: 1 where another package needs it
 */
export async function runPackageRemove(
  name: string,
  { force }: { readonly force?: true },
  flags: Flags,
  terminal: Terminal,
): Promise<number> {
  let close = (): Promise<void> => Promise.resolve();
  try {
    const open = await openPackages(flags, terminal, 'write');
    close = () => open.core.store.close();
    return await locked(open.core.store, async (signal) => {
      const { store } = open.core;
      const key = name.toLowerCase();
      const begun = await readBegun(store, key);
      const storeExamples = (contents: PackageContents): Promise<void> => {
        const call = `kiln package add ${contents.source.label} --replace --examples`;
        terminal.err(printable(`kiln: the examples of ${nameOf(contents)} are not stored: ${call}`));
        return Promise.resolve();
      };
      const finished = begun === undefined ? await finishPending(open, { signal, storeExamples }) : undefined;
      tellFinished(finished, terminal);
      const installed = await readRows(store);
      if (begun === undefined && !installed.some((row) => row.name === key)) {
        if (finished?.action === 'remove' && finished.names.includes(key)) return EXIT.done;
        throw new PackageRefused([notInstalled(name, installed)]);
      }
      if (force !== true) refuseNeeded(key, installed);
      const added = begun === undefined ? [] : await enterBegun(begun, open);
      if (begun !== undefined) {
        const files = begun.files.map(({ label }) => label).join(', ');
        const rest = begun.hasExamples ? '; examples that are stored stay' : '';
        terminal.err(printable(`kiln: undoes what was begun before: add ${files}${rest}`));
      }
      await removeAll([...new Set([key, ...added])], open, signal, terminal);
      return EXIT.done;
    });
  } catch (error) {
    return refusedOrFailed(error, terminal);
  } finally {
    await close();
  }
}

/** Removes packages, and the dependencies that nothing needs then; says which stay, and why. */
async function removeAll(
  named: readonly string[],
  open: OpenPackages,
  signal: AbortSignal,
  terminal: Terminal,
): Promise<void> {
  const rows = await readRows(open.core.store);
  const { names, staying } = withOrphans(named, rows);
  const { deletions, kept } = await uninstall(names, open, signal);
  for (const name of names) {
    const row = rows.find((each) => each.name === name)!;
    const keys = new Set(row.resources.map(keyOf));
    const isOfIt = (each: StoredDefinition): boolean => keys.has(keyOf(each));
    const count = deletions.filter(isOfIt).length;
    const stays = row.resources.length - count - kept.filter(isOfIt).length;
    const rest =
      stays === 0 ? '' : `; ${stays} ${stays === 1 ? 'stays' : 'stay'}: others have them too, or they were gone`;
    const why = named.includes(name) ? '' : ' (nothing needs it any more)';
    terminal.out(`${nameOf(row)}${why}: ${counted(count, 'resource')} removed${rest}`);
  }
  for (const { row, why } of staying) terminal.out(`${nameOf(row)} stays: ${why}`);
  tellKept(kept, terminal);
}

function notInstalled(name: string, rows: readonly PackageRow[]): PackageFault {
  const here =
    rows.length === 0 ? 'no packages are' : `${rows.map(nameOf).join(', ')} ${rows.length === 1 ? 'is' : 'are'}`;
  return { where: name, what: 'is not installed', remedy: `${here} here` };
}

/** @throws PackageRefused where other packages need it */
function refuseNeeded(name: string, rows: readonly PackageRow[]): void {
  const needing = rows.filter((each) => each.name !== name && each.dependencies[name] !== undefined);
  if (needing.length === 0) return;
  const row = rows.find((each) => each.name === name);
  const what = `is needed by ${needing.map(nameOf).join(', ')}`;
  const remedy = `remove ${needing.length === 1 ? 'that' : 'those'} first, or say --force`;
  throw new PackageRefused([{ where: row === undefined ? name : nameOf(row), what, remedy }]);
}
