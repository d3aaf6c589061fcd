import { append } from '../fhir/lists.js';
import type { Flags } from '../config/read-config.js';
import { BASES } from '../indexing/index-record.js';
import { counted, EXIT, printable, type Terminal } from '../cli/terminal.js';
import { refusedOrFailed } from './add.js';
import { readPending, readRows, type Pending } from './journal.js';
import { openPackages } from './open-packages.js';
import { isCore, nameOf } from './resolve.js';
import { undoOf } from './undo-addition.js';
import { changedOf } from './stored-definitions.js';
import { withoutEffect } from './without-effect.js';

/**
 * `kiln package check`: names each resource of a package that is not what the package had, and each index that is not current.
 *
 * @returns the exit code: 1 where there are some
 */
export async function runPackageCheck(flags: Flags, terminal: Terminal): Promise<number> {
  let close = (): Promise<void> => Promise.resolve();
  try {
    const open = await openPackages(flags, terminal, 'read');
    const { core } = open;
    close = () => core.store.close();
    const rows = await readRows(core.store);
    const faults: string[] = [];
    const pending = describePending(await readPending(core.store));
    if (pending !== undefined) faults.push(pending);
    for (const row of rows) {
      append(faults, await changedOf(row, core.store));
      const missing = Object.keys(row.asked).filter(
        (name) => !isCore(name) && ![...rows, ...(core.tables.guides ?? [])].some((each) => each.name === name),
      );
      append(
        faults,
        missing.map((name) => `${nameOf(row)} needs ${name}, which is not there`),
      );
    }
    const stale = (await core.indexStatus.notCurrent('now')).filter((name) => name !== BASES);
    append(
      faults,
      stale.map((name) => `the index of ${name} is not current: a job of a running server makes it, or kiln reindex`),
    );
    for (const line of faults) terminal.out(printable(line));
    for (const line of withoutEffect(rows, core)) terminal.out(line);
    if (faults.length === 0) {
      const count = rows.reduce((sum, { resources }) => sum + resources.length, 0);
      terminal.out(`${counted(rows.length, 'package')}, ${counted(count, 'definition')}: all as they came`);
    }
    return faults.length === 0 ? EXIT.done : EXIT.failed;
  } catch (error) {
    return refusedOrFailed(error, terminal);
  } finally {
    await close();
  }
}

/** Says what was begun and not ended; undefined: nothing was. */
export function describePending(pending: Pending | undefined): string | undefined {
  if (pending === undefined) return undefined;
  const what = pending.action === 'add' ? pending.files.map(({ label }) => label) : pending.names;
  const state = `${pending.action} ${what.join(', ')} is in progress, or was killed: the next kiln package add or remove finishes it`;
  return pending.action === 'add' ? `${state}, and ${undoOf(pending)} undoes it` : state;
}
