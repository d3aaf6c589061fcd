import { append } from '../../fhir/lists.js';
import type { Flags } from '../../config/read-config.js';
import { STORED_DEPTH } from '../../core/read-stored.js';
import type { JsonValue, Resource } from '../../fhir/resource.js';
import { yieldToEventLoop } from '../../fhir/yield-to-event-loop.js';
import { readJson } from '../../format/read-json.js';
import { writeJson } from '../../format/write-json.js';
import { counted, EXIT, printable, type Terminal } from '../terminal.js';
import { readRequest, refusedOrFailed, type PackageAddFlags } from './add.js';
import { differencesOf, type Difference } from './content-diff.js';
import { prepareAddition, type Addition } from './install.js';
import { readRows } from './journal.js';
import { openPackages, type OpenPackages } from './open-packages.js';
import { keyOf } from './plan.js';
import { readContents } from './read-package.js';
import { nameOf } from './resolve.js';

/** Lines that are printed without --all, and characters of a value, and of it before a difference. */
const MOST = { lines: 40, value: 80, context: 20 };

/** A resource that changes. */
interface Changed {
  readonly key: string;
  readonly lines: readonly string[];
}

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
    const most = all === true ? Infinity : MOST.lines;
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
  const shared = sharedLines(changed);
  if (shared.length > 0) lines.push(`~ all ${changed.length} that change: ${shared.join('; ')}`);
  const isShared = new Set(shared);
  const only: string[] = [];
  for (const { key, lines: own } of changed) {
    const rest = own.filter((line) => !isShared.has(line));
    if (rest.length === 0) only.push(key);
    else append(lines, [`~ ${key}`, ...rest.map((line) => `    ${line}`)]);
  }
  if (only.length > 0) lines.push(`~ nothing else in ${only.join(', ')}`);
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
    const found = differencesOf(readJson(stored, STORED_DEPTH) as Resource, resource);
    changed.push({ key: keyOf({ type, id }), lines: found.map(describe) });
    await pace();
  }
  return changed.sort((a, b) => (a.key < b.key ? -1 : 1));
}

/** Changes that all of several resources have in common, as those of their versions. */
function sharedLines(changed: readonly Changed[]): readonly string[] {
  const [first, ...others] = changed;
  if (first === undefined || others.length === 0) return [];
  return first.lines.filter((line) => others.every(({ lines }) => lines.includes(line)));
}

function describe({ path, before, after }: Difference): string {
  if (before === undefined) return `${path}: + ${shown(after)}`;
  if (after === undefined) return `${path}: - ${shown(before)}`;
  const [from, to] = withoutCommonStart(textOf(before), textOf(after));
  return `${path}: ${shown(from)} → ${shown(to)}`;
}

/** Of long texts that begin alike what is there from a little before the first difference on. */
function withoutCommonStart(from: string, to: string): readonly [string, string] {
  let start = 0;
  while (start < from.length && from[start] === to[start]) start++;
  const cut = start - MOST.context;
  if (cut <= 0 || Math.max(from.length, to.length) <= MOST.value) return [from, to];
  return [`…${from.slice(cut)}`, `…${to.slice(cut)}`];
}

function textOf(value: JsonValue): string {
  return typeof value === 'string' ? value : writeJson(value);
}

function shown(value: JsonValue | undefined): string {
  const text = textOf(value ?? null);
  return text.length > MOST.value ? `${text.slice(0, MOST.value)}…` : text;
}
