import { append } from '../fhir/lists.js';
import type { Flags } from '../config/read-config.js';
import { STORED_DEPTH } from '../core/read-stored.js';
import type { Resource } from '../fhir/resource.js';
import { yieldToEventLoop } from '../fhir/yield-to-event-loop.js';
import { readJson } from '../format/read-json.js';
import { counted, EXIT, printable, type Terminal } from '../cli/terminal.js';
import { refusedOrFailed, type PackageAddFlags } from './add.js';
import { changeOf, describeChanges, MOST_LINES, type Changed } from './changes/describe-changes.js';
import { prepareAddition, type Addition } from './install.js';
import { readRows } from './journal.js';
import { openPackages, type OpenPackages } from './open-packages.js';
import { keyOf } from './plan.js';
import { readContents } from './read-package.js';
import { readRequest } from './read-request.js';
import { nameOf } from './resolve.js';

/**
 * `kiln package diff FILE`: prints what `add` would change, for people.
 *
 * @returns the exit code: 1 where there is anything
 * @throws ConfigError
 */
export async function runPackageDiff(
  file: string,
  { all, ...options }: Pick<PackageAddFlags, 'from' | 'use'> & { readonly all?: true },
  flags: Flags,
  terminal: Terminal,
): Promise<number> {
  let close = (): Promise<void> => Promise.resolve();
  try {
    const request = { ...(await readRequest([file], options)), allowsDowngrade: true, replaces: true };
    const open = await openPackages(flags, terminal, 'read');
    close = () => open.core.store.close();
    const lines = await describeAddition(await prepareAddition(request, open), open);
    const most = all === true ? Infinity : MOST_LINES;
    const shown = lines.length > most ? lines.slice(0, most - 1) : lines;
    for (const line of shown) terminal.out(printable(line));
    if (shown.length < lines.length) terminal.out(`… and ${lines.length - shown.length} more lines: --all`);
    return lines.length === 0 ? EXIT.done : EXIT.failed;
  } catch (error) {
    return refusedOrFailed(error, terminal);
  } finally {
    await close();
  }
}

async function describeAddition(addition: Addition, open: OpenPackages): Promise<readonly string[]> {
  const { plan, packages, rows } = addition;
  const before = new Map((await readRows(open.core.store)).map((row) => [row.name, row.version]));
  const lines = rows.flatMap((row) => {
    const old = before.get(row.name);
    if (old === undefined) return [`${nameOf(row)} is new: ${counted(row.resources.length, 'definition')}`];
    return old === row.version ? [] : [`${row.name}: ${old} → ${row.version}`];
  });
  const added = plan.writes.filter((write) => write.before === undefined);
  // Of a package that is new the count is enough.
  const isNew = (name: string | undefined): boolean => name !== undefined && !before.has(name);
  append(
    lines,
    added.filter(({ from }) => !isNew(from?.package)).map((each) => `+ ${keyOf(each)}`),
  );
  append(
    lines,
    plan.deletions.map((each) => `- ${keyOf(each)}`),
  );
  const changed: Changed[] = [];
  for (const contents of packages) append(changed, await changesOf(contents.name, addition, open));
  append(lines, describeChanges(changed));
  return lines;
}

async function changesOf(
  name: string,
  { plan, packages }: Addition,
  { core, reader }: OpenPackages,
): Promise<Changed[]> {
  const writes = new Map(
    plan.writes.flatMap((write) =>
      write.from?.package === name && write.before !== undefined ? [[write.from.resource.path, write] as const] : [],
    ),
  );
  const contents = packages.find((each) => each.name === name);
  if (writes.size === 0 || contents === undefined) return [];
  const changed: Changed[] = [];
  const pace = yieldToEventLoop();
  for await (const { path, resource } of readContents(contents.source, reader, (each) => writes.has(each))) {
    const { type, id } = writes.get(path)!;
    const stored = (await core.store.read(type, id))?.json;
    if (stored === undefined) continue;
    changed.push(changeOf(keyOf({ type, id }), readJson(stored, STORED_DEPTH) as Resource, resource));
    await pace();
  }
  return changed.sort((a, b) => (a.key < b.key ? -1 : 1));
}
