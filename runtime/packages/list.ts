import type { Flags } from '../config/read-config.js';
import { counted, EXIT, type Terminal } from '../cli/terminal.js';
import { refusedOrFailed } from './add.js';
import { readPending, readRows } from './journal.js';
import { openPackages } from './open-packages.js';
import { describePending } from './check.js';
import { nameOf } from './resolve.js';
import { withoutEffect } from './without-effect.js';

/** `kiln package list`: the packages of a store as they were resolved. @returns the exit code */
export async function runPackageList(
  { json }: { readonly json?: true },
  flags: Flags,
  terminal: Terminal,
): Promise<number> {
  let close = (): Promise<void> => Promise.resolve();
  try {
    const { core } = await openPackages(flags, terminal, 'read');
    close = () => core.store.close();
    const rows = await readRows(core.store);
    if (json === true) {
      const locks = rows.map((row) => {
        const { name, version, sha256, isDirect, dependencies, overridden, guide, resources, leftOut } = row;
        return {
          ...{ name, version, sha256, kind: isDirect ? 'direct' : 'dependency', dependencies, overridden },
          ...(guide !== undefined && { guide }),
          ...{ resources, leftOut, withoutEffect: withoutEffect([row], core) },
        };
      });
      terminal.out(JSON.stringify(locks, undefined, 2));
      return EXIT.done;
    }
    if (rows.length === 0) terminal.out('no packages');
    for (const row of rows) {
      const kind = row.isDirect ? 'direct' : 'dependency';
      terminal.out(`${nameOf(row)}  ${kind}  ${counted(row.resources.length, 'definition')}  sha256 ${row.sha256}`);
      for (const [name, version] of Object.entries(row.dependencies)) {
        const asked = row.overridden[name];
        terminal.out(`  needs ${name}@${version}${asked === undefined ? '' : ` (asks for ${asked})`}`);
      }
      for (const line of withoutEffect([row], core)) terminal.out(`  ${line}`);
    }
    const pending = describePending(await readPending(core.store));
    if (pending !== undefined) terminal.err(`kiln: ${pending}`);
    return EXIT.done;
  } catch (error) {
    return refusedOrFailed(error, terminal);
  } finally {
    await close();
  }
}
