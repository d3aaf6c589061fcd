import type { Flags } from '../../config/read-config.js';
import { counted, EXIT, type Terminal } from '../terminal.js';
import { refusedOrFailed, tellFinished, tellKept } from './add.js';
import { finishPending, uninstall } from './install.js';
import { locked, readRows } from './journal.js';
import { openPackages } from './open-packages.js';
import { PackageRefused } from './package-fault.js';
import { nameOf } from './resolve.js';

/**
 * `kiln package remove NAME`: deletes what a package brought, and no other has; history stays.
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
      const finished = await finishPending(open, { signal, storeExamples: () => Promise.resolve() });
      tellFinished(finished, terminal);
      const rows = await readRows(open.core.store);
      const row = rows.find((each) => each.name === name.toLowerCase());
      if (row === undefined) {
        if (finished?.action === 'remove' && finished.name === name.toLowerCase()) return EXIT.done;
        const here =
          rows.length === 0 ? 'no packages are' : `${rows.map(nameOf).join(', ')} ${rows.length === 1 ? 'is' : 'are'}`;
        throw new PackageRefused([{ where: name, what: 'is not installed', remedy: `${here} here` }]);
      }
      const needing = rows.filter((each) => each.name !== row.name && each.dependencies[row.name] !== undefined);
      if (needing.length > 0 && force !== true) {
        const what = `is needed by ${needing.map(nameOf).join(', ')}`;
        const remedy = `remove ${needing.length === 1 ? 'that' : 'those'} first, or say --force`;
        throw new PackageRefused([{ where: nameOf(row), what, remedy }]);
      }
      const { deletions, kept } = await uninstall(row.name, open, signal);
      const stays = row.resources.length - deletions.length - kept.length;
      const rest =
        stays === 0 ? '' : `; ${stays} ${stays === 1 ? 'stays' : 'stay'}: others have them too, or they were gone`;
      terminal.out(`${nameOf(row)}: ${counted(deletions.length, 'resource')} removed${rest}`);
      tellKept(kept, terminal);
      return EXIT.done;
    });
  } catch (error) {
    return refusedOrFailed(error, terminal);
  } finally {
    await close();
  }
}
