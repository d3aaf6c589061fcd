import type { Flags } from '../config/read-config.js';
import { describeStaleIndex } from '../core/definitions/index-status.js';
import { loadItems } from '../cli/load/load-items.js';
import { storeSink } from '../cli/load/store-sink.js';
import { counted, EXIT, failed, messageOf, printable, type Terminal } from '../cli/terminal.js';
import { countPlan } from './apply.js';
import { finishPending, install, prepareAddition, type Addition } from './install.js';
import { locked, type PackageRow, type Pending } from './journal.js';
import { keyOf, type Plan } from './plan.js';
import { openPackages, type OpenPackages } from './open-packages.js';
import { readRequest } from './read-request.js';
import { isExamplePath, readContents, type PackageContents } from './read-package.js';
import { nameOf } from './resolve.js';
import { startReindexing } from './start-reindexing.js';
import { changedOf } from './stored-definitions.js';
import { withoutEffect } from './without-effect.js';

/** Options of `kiln package add` and `diff` besides the settings. */
export interface PackageAddFlags {
  readonly from?: string;
  readonly use?: readonly string[];
  readonly dryRun?: true;
  readonly examples?: true;
  readonly replace?: true;
  readonly downgrade?: true;
  readonly verbose?: true;
}

/**
 * `kiln package add FILE…`: reads and checks packages and all that they need, then stores all or nothing, beside servers that may run.
 *
 * @returns the exit code: 1 where they are refused, with one line for each fault
 * @throws ConfigError
 */
export async function runPackageAdd(
  files: readonly string[],
  options: PackageAddFlags,
  flags: Flags,
  terminal: Terminal,
): Promise<number> {
  const isTrial = options.dryRun === true;
  let close = (): Promise<void> => Promise.resolve();
  try {
    const request = await readRequest(files, options);
    const open = await openPackages(flags, terminal, isTrial ? 'read' : 'write');
    close = () => open.core.store.close();
    if (isTrial) {
      await report(await prepareAddition(request, open), 'would be', options, open, terminal);
      return EXIT.done;
    }
    return await locked(open.core.store, async (signal) => {
      let failures = 0;
      const storeExamples = async (contents: PackageContents): Promise<void> => {
        failures += await loadExamples(contents, open, terminal);
      };
      tellFinished(await finishPending(open, { signal, storeExamples }, request.replaces ? files : []), terminal);
      const hasExamples = options.examples === true;
      const addition = await prepareAddition(request, open);
      if (addition.rows.length > 0) {
        const done = await install({ ...request, hasExamples }, addition, open, { signal, storeExamples });
        await report(done, '', options, open, terminal, countPlan(addition.plan));
      } else await report(addition, '', options, open, terminal);
      return failures > 0 ? EXIT.failed : EXIT.done;
    });
  } catch (error) {
    return refusedOrFailed(error, terminal);
  } finally {
    await close();
  }
}

/** Says what a killed command had begun, and this one finished. */
export function tellFinished(pending: Pending | undefined, terminal: Terminal): void {
  if (pending === undefined) return;
  const what = pending.action === 'add' ? pending.files.map(({ label }) => label) : pending.names;
  terminal.err(`kiln: finished what was begun before: ${pending.action} ${printable(what.join(', '))}`);
}

/** Names what users changed of a package, and is therefore still there. */
export function tellKept(kept: Plan['kept'], terminal: Pick<Terminal, 'out'>): void {
  for (const each of kept)
    terminal.out(printable(`${keyOf(each)} was changed since the package brought it, and stays: it is yours`));
}

/** Says why a command refused. @returns the exit code */
export function refusedOrFailed(error: unknown, terminal: Terminal): number {
  if (!(error instanceof Error) || error.name !== 'PackageRefused') return failed(error, terminal);
  for (const line of error.message.split('\n')) terminal.err(`kiln: ${line}`);
  return EXIT.failed;
}

/** Examples go the usual way of resources; what is refused is named. @returns how many were */
async function loadExamples(
  contents: PackageContents,
  { core, reader }: OpenPackages,
  terminal: Terminal,
): Promise<number> {
  const { validateByProfiles } = await import('../operations/validation/validate-by-profiles.js');
  const limits = { ...core.limits, answerTime: Infinity };
  const loaded = { ...core, limits, validateByProfiles, largeTexts: undefined };
  const { openLoadChecks } = await import('../cli/load/refuse-live-subscriptions.js');
  const sink = storeSink({ ...loaded, checkSubscriptions: openLoadChecks(loaded).check });
  const items = async function* () {
    for await (const { path, resource, size } of readContents(contents.source, reader, isExamplePath)) {
      const id = typeof resource['id'] === 'string' ? resource['id'] : undefined;
      yield { place: `${contents.source.label}/${path}`, resource, id, size };
    }
  };
  const tell = (place: string, error: unknown): void => terminal.err(`${printable(place)}: ${messageOf(error)}`);
  const { created, updated, unchanged, failed: refused } = await loadItems(items(), sink, tell);
  terminal.out(`examples of ${nameOf(contents)}: ${created + updated + unchanged} stored, ${refused} refused`);
  return refused;
}

async function report(
  { packages, present, rows, plan }: Addition,
  mood: 'would be' | '',
  { verbose }: PackageAddFlags,
  open: OpenPackages,
  terminal: Terminal,
  { added, changed, removed } = countPlan(plan),
): Promise<void> {
  const { core } = open;
  for (const row of present) {
    const { length } = await changedOf(row, open.core.store);
    const hint = `; ${length} of its resources ${length === 1 ? 'was' : 'were'} changed or deleted since (kiln package check names them): --replace puts them right`;
    terminal.out(`${nameOf(row)} is already there${length === 0 ? '' : hint}`);
  }
  for (const contents of packages) {
    const row = rows.find(({ name }) => name === contents.name);
    terminal.out(`${nameOf(contents)}${describeRow(row)}: ${counted(contents.resources.length, 'definition')}`);
    const leftOut = [...contents.leftOut].map(([type, count]) => `${count} ${type}`);
    if (leftOut.length > 0) terminal.out(`  left out: ${leftOut.sort().join(', ')}`);
    if (contents.broken.length === 0) continue;
    terminal.out(
      `  ${counted(contents.broken.length, 'time')} a rule is broken, which is no fault here${verbose === true ? ':' : ' (--verbose lists them)'}`,
    );
    if (verbose === true) for (const line of contents.broken) terminal.out(`    ${printable(line)}`);
  }
  if (packages.length === 0) return;
  terminal.out(
    `${[counted(added, 'resource'), mood, `added, ${changed} changed, ${removed} removed`].filter((text) => text !== '').join(' ')}`,
  );
  tellKept(plan.kept, terminal);
  if (mood !== '') return;
  for (const line of withoutEffect(rows, core)) terminal.out(line);
  await startReindexing(open, terminal);
  const stale = describeStaleIndex(await core.indexStatus.notCurrent('now'));
  if (stale !== undefined) terminal.out(`${stale}, or a server has done the job`);
}

function describeRow(row: PackageRow | undefined): string {
  const overridden = Object.entries(row?.overridden ?? {}).map(
    ([name, asked]) => `${name}@${row?.dependencies[name]} instead of ${asked}`,
  );
  const needed = row?.isDirect === false ? ['as a dependency'] : [];
  const notes = [...needed, ...overridden];
  return notes.length === 0 ? '' : ` (${notes.join(', ')})`;
}
