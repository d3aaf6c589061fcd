import { fileKey } from '../../core/job-files/read-job-file.js';
import type { Integrity } from '../../core/references/integrity.js';
import type { Services } from '../../core/services.js';
import { FhirError } from '../../fhir/errors.js';
import type { RequiredTarget } from '../../store/store.js';
import type { ChunkContext } from '../engine/job-kind.js';
import { readLinePage } from './read-lines.js';
import { targetsOfLine, type ImportLine, type LineContext, type LineSource } from './store-lines.js';

/** A line whose references led to nothing when it came: what they name may come with later lines. */
export interface WaitingLine {
  /** Place of its file. */
  readonly file: number;
  readonly line: ImportLine & { readonly text: string };
}

/** Whether a line has to wait, because of what became of it. */
export function isWaiting(outcome: unknown): boolean {
  return outcome instanceof FhirError && outcome.code === 'reference-dangling';
}

/** Keeps lines until all files were read. @param n how often some were kept before */
export async function keepWaiting(lines: readonly WaitingLine[], n: number, context: ChunkContext): Promise<void> {
  const texts = lines.map(({ file, line: { number, text } }) => `${JSON.stringify([file, number, text])}\n`);
  await context.services.store.blobs.put(nameOf(n, context), toBytes(texts), Infinity);
}

/** The lines that were kept, a page at a time, each page those of one file. @param count how often some were kept */
export async function* readWaiting(count: number, context: ChunkContext): AsyncGenerator<readonly WaitingLine[]> {
  const { services, signal } = context;
  for (let n = 0; n < count; n++) {
    for (let at: number | undefined = 0; at !== undefined;) {
      signal.throwIfAborted();
      // A line within a line is longer than it was.
      const page = await readLinePage(services.store.blobs, nameOf(n, context), at, Infinity);
      const lines = page.lines.filter((text) => text !== '').map((text) => readLine(String(text)));
      if (lines.length > 0) yield lines;
      at = page.next;
    }
  }
}

/**
 * Finds which of the resources that wait will be there: those whose references lead to what is there, or to others of them that will be.
 * They may refer to each other in circles, whatever their order.
 *
 * @returns their names
 */
export async function findComing(
  count: number,
  sourceOf: (file: number) => LineSource,
  services: Services,
  context: ChunkContext & LineContext,
): Promise<ReadonlySet<string>> {
  const lines: Need[] = [];
  for await (const page of readWaiting(count, context)) {
    for (const { file, line } of page) {
      await context.breathe();
      const { name, targets } = await targetsOfLine(line, sourceOf(file), services, context);
      lines.push({ name, needs: await namesOfMissing(targets, services) });
    }
  }
  return comingOf(lines);
}

/** Returns rules of integrity that take the coming resources as present. A reference to a version of one is still checked. */
export function expecting(coming: ReadonlySet<string>, integrity: Integrity): Integrity {
  return {
    ...integrity,
    targetsOf(content, before) {
      const targets = integrity
        .targetsOf(content, before)
        ?.filter(({ type, id, version }) => version !== undefined || !coming.has(`${type}/${id}`));
      return targets?.length === 0 ? undefined : targets;
    },
  };
}

/** Targets that are read at once: each may be large. */
const AT_ONCE = 20;

interface Need {
  /** Of the resource; absent: it cannot be read. */
  readonly name: string | undefined;
  /** Names of what it refers to and is not there. */
  readonly needs: readonly string[];
}

/** Takes away what needs something that does not come, and what needs that, until nothing is left to take. */
function comingOf(all: readonly Need[]): ReadonlySet<string> {
  const left = new Map<string, number>();
  const neededBy = new Map<string, Need[]>();
  for (const line of all) {
    if (line.name !== undefined) left.set(line.name, (left.get(line.name) ?? 0) + 1);
    for (const need of line.needs) {
      const lines = neededBy.get(need);
      if (lines === undefined) neededBy.set(need, [line]);
      else lines.push(line);
    }
  }
  const gone = new Set<Need>();
  const missing = [...neededBy.keys()].filter((name) => !left.has(name));
  for (let name = missing.pop(); name !== undefined; name = missing.pop()) {
    for (const line of neededBy.get(name) ?? []) {
      if (gone.has(line) || line.name === undefined) continue;
      gone.add(line);
      const others = (left.get(line.name) ?? 0) - 1;
      left.set(line.name, others);
      if (others === 0) missing.push(line.name);
    }
  }
  return new Set([...left].flatMap(([name, count]) => (count > 0 ? [name] : [])));
}

async function namesOfMissing(targets: readonly RequiredTarget[], { store }: Services): Promise<readonly string[]> {
  const unversioned = targets.filter(({ version }) => version === undefined);
  const missing: string[] = [];
  for (let from = 0; from < unversioned.length; from += AT_ONCE) {
    const some = unversioned.slice(from, from + AT_ONCE);
    const found = await store.readMany(some);
    for (const [i, { type, id, isHidden }] of some.entries())
      if (isHidden === true || found[i]?.json === undefined) missing.push(`${type}/${id}`);
  }
  return missing;
}

function nameOf(n: number, { job }: Pick<ChunkContext, 'job'>): string {
  return fileKey(job, `${job.run}-waiting-${n}`);
}

function readLine(text: string): WaitingLine {
  const [file, number, line] = JSON.parse(text) as [number, number, string];
  return { file, line: { number, text: line } };
}

async function* toBytes(texts: readonly string[]): AsyncGenerator<Uint8Array> {
  await Promise.resolve();
  for (const text of texts) yield Buffer.from(text);
}
