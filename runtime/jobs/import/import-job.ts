import { fileKey, removeFiles, type ExportFile } from '../../core/job-files/read-job-file.js';
import type { Job, JobProgress } from '../../core/jobs.js';
import type { Services } from '../../core/services.js';
import { FhirError } from '../../fhir/errors.js';
import { errorOutcome } from '../../fhir/operation-outcome.js';
import type { JsonObject } from '../../fhir/resource.js';
import type { ChunkContext, ChunkResult } from '../engine/job-kind.js';
import { NO_COUNTS, type ImportCounts, type ImportInput } from './import-input.js';
import { readLinePage } from './read-lines.js';
import { storeLines, type ImportLine, type LineOutcome, type LineSource } from './store-lines.js';
import { expecting, findComing, isWaiting, keepWaiting, readWaiting, type WaitingLine } from './waiting-lines.js';

interface Checkpoint {
  /** Place of the file that is being imported. */
  readonly file: number;
  /** Where its next line begins, in bytes, and how many lines came before. */
  readonly at: number;
  readonly line: number;
  /** Key of the blob of that file, where it was fetched. */
  readonly fetched?: string;
  /** By file. */
  readonly counts: readonly ImportCounts[];
  /** Lists of errors. */
  readonly errors: readonly ExportFile[];
  /** How often lines were kept that wait for others, because what they refer to was not there; absent: never, or they wait no more. */
  readonly waiting?: number;
}

const BEGINNING: Checkpoint = { file: 0, at: 0, line: 0, counts: [], errors: [] };

/** Greatest size of a file that is fetched, in bytes. */
const MAX_FILE = 64 * 1024 ** 3;

/** Greatest number of lines that are written together. */
const BATCH = 500;

/** One chunk of an import: a file is fetched, or some lines are put into the store. */
export async function importChunk(context: ChunkContext): Promise<ChunkResult> {
  const { job, services, signal } = context;
  const input = job.input as unknown as ImportInput;
  const at = (job.checkpoint as unknown as Checkpoint | undefined) ?? BEGINNING;
  const file = input.files[at.file];
  if (file === undefined)
    return at.waiting === undefined ? finish(at, context) : importWaiting(at, at.waiting, context);
  const key = file.key ?? at.fetched;
  if (key === undefined) {
    const name = `${job.run}-file-${at.file}`;
    await fetchInto(fileKey(job, name), file.url, services, signal);
    return toResult({ ...at, fetched: fileKey(job, name) });
  }
  const page = await readLinePage(services.store.blobs, key, at.at, services.limits.resource);
  const source = sourceOf(at.file, input, job);
  const lines = page.lines.map((text, i): ImportLine => ({ number: at.line + i + 1, text }));
  let counts = at.counts[at.file] ?? NO_COUNTS;
  const faults: string[] = [];
  const waiting: WaitingLine[] = [];
  for (let from = 0; from < lines.length;) {
    signal.throwIfAborted();
    const to = from + context.stepSize.next(BATCH);
    const outcomes = await storeLines(lines.slice(from, to), source, services, { ...context, base: input.base });
    from = to;
    await context.breathe();
    for (const [{ number, text }, outcome] of outcomes) {
      if (isWaiting(outcome)) {
        waiting.push({ file: at.file, line: { number, text: String(text) } });
        continue;
      }
      counts = count(counts, outcome);
      if (outcome instanceof FhirError) faults.push(describeFault(file.url, number, outcome));
    }
    context.report(progressOf(withCounts(at, counts)));
  }
  const errors = faults.length === 0 ? at.errors : [...at.errors, await saveFaults(faults, at, context)];
  if (waiting.length > 0) await keepWaiting(waiting, at.waiting ?? 0, context);
  const kept = waiting.length > 0 && { waiting: (at.waiting ?? 0) + 1 };
  const next = { ...at, counts: withCounts(at, counts), errors, ...kept };
  if (page.next !== undefined) return toResult({ ...next, at: page.next, line: at.line + lines.length });
  if (at.fetched !== undefined) await services.store.blobs.delete(at.fetched);
  const { fetched: _fetched, ...rest } = next;
  return toResult({ ...rest, file: at.file + 1, at: 0, line: 0 });
}

/** The last chunk but one: writes those of the lines that wait whose references lead somewhere when all are there, and refuses the others. */
async function importWaiting(at: Checkpoint, waiting: number, context: ChunkContext): Promise<ChunkResult> {
  const { job, services, report } = context;
  const input = job.input as unknown as ImportInput;
  const own = { ...context, base: input.base };
  const { integrity } = services;
  const sources = (file: number): LineSource => sourceOf(file, input, job);
  const coming = integrity === undefined ? NONE : await findComing(waiting, sources, services, own);
  const late = integrity === undefined ? services : { ...services, integrity: expecting(coming, integrity) };
  let { errors } = at;
  const counts = [...at.counts];
  for await (const page of readWaiting(waiting, context)) {
    const faults: string[] = [];
    for (const [file, lines] of byFile(page)) {
      const now = await storeLines(lines, sources(file), services, own);
      // What others of them bring may come later.
      const again = await storeLines(lines.filter((line) => isWaiting(now.get(line))), sources(file), late, own); // prettier-ignore
      for (const line of lines) {
        const outcome = again.get(line) ?? now.get(line);
        if (outcome === undefined) continue;
        counts[file] = count(counts[file] ?? NO_COUNTS, outcome);
        if (outcome instanceof FhirError) faults.push(describeFault(input.files[file]!.url, line.number, outcome));
      }
    }
    if (faults.length > 0) errors = [...errors, await saveFaults(faults, { ...at, errors }, context)];
    report(progressOf(counts));
  }
  const { waiting: _waiting, ...rest } = at;
  return toResult({ ...rest, counts, errors });
}

const NONE: ReadonlySet<string> = new Set();

function byFile(lines: readonly WaitingLine[]): ReadonlyMap<number, ImportLine[]> {
  const files = new Map<number, ImportLine[]>();
  for (const { file, line } of lines) files.set(file, [...(files.get(file) ?? []), line]);
  return files;
}

function sourceOf(place: number, { files, types }: ImportInput, { id, created }: Job): LineSource {
  const type = files[place]?.type;
  return { type, types: new Set(types), created, seed: `${id} ${place}` };
}

/** Removes what an import left; what was imported stays. */
export async function discardImport(job: Job, { store }: Pick<Services, 'store'>): Promise<void> {
  await removeFiles(job, [], store.blobs);
}

async function fetchInto(key: string, url: string, { fetchFile, store }: Services, signal: AbortSignal): Promise<void> {
  if (fetchFile === undefined) throw new FhirError('parameter-invalid', 'The configuration allows no server any more');
  await store.blobs.put(key, await fetchFile(url, signal), MAX_FILE);
}

async function finish({ counts, errors }: Checkpoint, { job, services }: ChunkContext): Promise<ChunkResult> {
  await removeFiles(job, errors, services.store.blobs);
  return { result: { counts: counts as unknown as JsonObject[], files: errors as unknown as JsonObject[] } };
}

async function saveFaults(
  faults: readonly string[],
  at: Checkpoint,
  { job, services }: ChunkContext,
): Promise<ExportFile> {
  const name = `${job.run}-errors-${at.errors.length}`;
  await services.store.blobs.put(fileKey(job, name), toBytes(faults), Infinity);
  return { name, type: 'OperationOutcome', count: faults.length };
}

async function* toBytes(lines: readonly string[]): AsyncGenerator<Uint8Array> {
  await Promise.resolve();
  yield Buffer.from(`${lines.join('\n')}\n`);
}

/** An OperationOutcome that names file and line in each of its issues. */
function describeFault(url: string, line: number, error: FhirError): string {
  const named = error.map((issue) => ({
    ...issue,
    diagnostics: [`${url}, line ${line}`, issue.diagnostics].filter((each) => each !== undefined).join('; '),
  }));
  return JSON.stringify(errorOutcome(named));
}

function count(counts: ImportCounts, outcome: LineOutcome): ImportCounts {
  const name = outcome instanceof FhirError ? 'failed' : outcome;
  return { ...counts, [name]: counts[name] + 1 };
}

function withCounts({ counts, file }: Checkpoint, own: ImportCounts): readonly ImportCounts[] {
  return [...counts.slice(0, file), own];
}

function toResult(next: Checkpoint): ChunkResult {
  return { checkpoint: next as unknown as JsonObject, progress: progressOf(next.counts) };
}

function progressOf(counts: readonly ImportCounts[]): JobProgress {
  const done = counts.reduce((sum, each) => sum + each.created + each.updated + each.unchanged + each.failed, 0);
  return { done, unit: 'lines' };
}
