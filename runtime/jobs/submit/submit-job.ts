import { removeFiles, type ExportFile, fileKey } from '../../core/job-files/read-job-file.js';
import { ENDED, type Job } from '../../core/jobs.js';
import type { Services } from '../../core/services.js';
import { SUBMISSION_KEPT } from '../../core/bulk-data/submission.js';
import { FhirError } from '../../fhir/errors.js';
import { errorOutcome, noticeOutcome } from '../../fhir/operation-outcome.js';
import type { JsonObject } from '../../fhir/resource.js';
import type { ChunkContext, ChunkResult } from '../engine/job-kind.js';
import { importChunk } from '../import/import-job.js';
import { NO_COUNTS, type ImportCounts, type ImportInput } from '../import/import-input.js';
import { readManifest } from './read-manifest.js';
import { SUBMIT_BEGINNING, SUMMARY, type SubmitCheckpoint, type SubmitInput } from './submit-input.js';
import { noting, removeNotes, takeBack } from './take-back.js';

/** Manifests that may follow each other, files of all, and faults that are named. */
const MOST = { pages: 1000, files: 10_000, faults: 1000 };

/** So often in a row a server may fail to answer before its file is given up. */
const TRIES = 4;

/** Between two looks whether a job has ended, in milliseconds. */
const LOOK = 500;

/**
 * One chunk of a submission: the work of earlier jobs is taken back, the manifest is read, and its files are imported as by `$import`. What is
 * wrong with manifest and files is reported like what is wrong with a line; the job itself does not fail for it.
 */
export async function submitChunk(context: ChunkContext): Promise<ChunkResult> {
  const { job, services, signal } = context;
  const input = job.input as unknown as SubmitInput;
  const at = (job.checkpoint as unknown as SubmitCheckpoint | undefined) ?? SUBMIT_BEGINNING;
  const own: ChunkContext = { ...context, services: { ...services, ...withHeaders(input, services) } };
  switch (at.phase) {
    case 'wait':
      return toResult(await waitForEnd(at, input, context));
    case 'undo': {
      const next = await takeBack(at, input, context);
      if (next.phase !== 'manifest') return toResult(next);
      for (const each of input.undoes) await removeNotes(each, services.store);
      const first = input.manifestUrl;
      return toResult(first === undefined ? { ...next, phase: 'end' } : { ...next, pages: [first] });
    }
    case 'manifest':
      try {
        return toResult(await readOn(at, input, own));
      } catch (error) {
        const text = faultOf(error, context);
        return toResult({ ...at, phase: 'import', faults: [...at.faults, `${at.pages[0]}: ${text}`] });
      }
    case 'import':
      try {
        return await importOn(at, input, own);
      } catch (error) {
        signal.throwIfAborted();
        const imported = importAt(at);
        const file = at.files[imported.file];
        if (file === undefined || imported.fetched !== undefined) throw error;
        const next = { ...imported, file: imported.file + 1, at: 0, line: 0, counts: upTo(imported) };
        const faults = [...at.faults, `${file.url}: ${faultOf(error, context)}`];
        return toResult({ ...at, import: next as unknown as JsonObject, faults });
      }
    case 'end':
      return finish(at, input, context);
  }
}

/** Waits until the jobs whose work is taken back write no more. */
async function waitForEnd(
  at: SubmitCheckpoint,
  { undoes }: SubmitInput,
  { services, sleep }: ChunkContext,
): Promise<SubmitCheckpoint> {
  for (const id of undoes) {
    const job = await services.jobs?.read(id);
    const isOver =
      job === undefined || (ENDED.has(job.state) && (job.state !== 'cancelled' || job.isDiscarded === true));
    if (isOver) continue;
    await sleep(LOOK);
    return at;
  }
  return { ...at, phase: 'undo' };
}

async function readOn(
  at: SubmitCheckpoint,
  { types }: SubmitInput,
  { services, signal }: ChunkContext,
): Promise<SubmitCheckpoint> {
  const [url] = at.pages;
  if (url === undefined) return { ...at, phase: 'import' };
  const { files, next, faults } = await readManifest(url, types, services, signal);
  const all = [...at.files, ...files];
  if (at.read >= MOST.pages || all.length > MOST.files) {
    throw new FhirError('parameter-invalid', `A manifest has ${MOST.pages} pages and ${MOST.files} files at most`);
  }
  const known = [...at.faults, ...faults].slice(0, MOST.faults);
  return { ...at, pages: next === undefined ? [] : [next], read: at.read + 1, files: all, faults: known };
}

/** The import as a job of its own would do it, with notes of what it writes over. */
async function importOn(
  at: SubmitCheckpoint,
  { base, types }: SubmitInput,
  context: ChunkContext,
): Promise<ChunkResult> {
  const { job, services } = context;
  const { checkpoint: _checkpoint, ...plain } = job;
  const input: ImportInput = { request: '', base, files: at.files, types };
  const done = await importChunk({
    ...context,
    job: { ...plain, input: input as unknown as JsonObject, ...(at.import !== undefined && { checkpoint: at.import }) },
    services: { ...services, store: noting(job.id, services.store) },
  });
  if (done.result === undefined) {
    const next = done.checkpoint === undefined ? at : { ...at, import: done.checkpoint };
    return { ...toResult(next), ...(done.progress !== undefined && { progress: done.progress }) };
  }
  const lists = done.result['files'] as unknown as readonly ExportFile[];
  return toResult({ ...at, phase: 'end', import: { counts: done.result['counts'] ?? [] }, lists });
}

interface ImportAt {
  readonly file: number;
  readonly fetched?: string;
  readonly counts: readonly ImportCounts[];
}

function importAt(at: SubmitCheckpoint): ImportAt {
  return { file: 0, counts: [], errors: [], ...at.import } as ImportAt;
}

/** Counts of all files up to one, of which nothing was imported. */
function upTo({ file, counts }: ImportAt): readonly ImportCounts[] {
  return Array.from({ length: file + 1 }, (_, n) => counts[n] ?? NO_COUNTS);
}

/** What is wrong, in words. @throws what is tried again, or is a defect */
function faultOf(error: unknown, { job, signal }: ChunkContext): string {
  signal.throwIfAborted();
  if (error instanceof FhirError && error.status < 500) return error.message;
  if (error instanceof FhirError || job.failures < TRIES) throw error;
  return 'its server did not answer, or not with the file';
}

/** Writes the lists of outcomes. */
async function finish(at: SubmitCheckpoint, input: SubmitInput, { job, services }: ChunkContext): Promise<ChunkResult> {
  const { blobs } = services.store;
  const lists = [...at.lists];
  const write = async (name: string, outcomes: readonly object[]): Promise<void> => {
    if (outcomes.length === 0) return;
    const lines = outcomes.map((each) => `${JSON.stringify(each)}\n`).join('');
    await blobs.put(fileKey(job, name), pieceOf(lines), Infinity);
    lists.push({ name, type: 'OperationOutcome', count: outcomes.length });
  };
  const faults = at.faults.map((text) => errorOutcome(new FhirError('parameter-invalid', text)));
  await write(`${job.run}-faults`, faults);
  await write(`${job.run}${SUMMARY}`, [noticeOutcome(summaryOf(at, input))]);
  await removeFiles(job, lists, blobs);
  return { result: { files: lists as unknown as JsonObject[] } };
}

function summaryOf({ import: imported, undone }: SubmitCheckpoint, { manifestUrl, undoes }: SubmitInput): string {
  const sum = { ...NO_COUNTS } as Record<keyof ImportCounts, number>;
  for (const counts of (imported?.['counts'] ?? []) as unknown as readonly ImportCounts[]) {
    for (const name of Object.keys(sum) as (keyof ImportCounts)[]) sum[name] += counts[name];
  }
  const { done, skipped, failed } = undone;
  const isTaken = manifestUrl !== undefined;
  const back = `Taken back: ${done} resources; left, because others changed them since: ${skipped}; refused: ${failed}`;
  const taken = `Taken in: ${sum.created} created, ${sum.updated} updated, ${sum.unchanged} as they were, ${sum.failed} refused`;
  const parts = [...(undoes.length > 0 || !isTaken ? [back] : []), ...(isTaken ? [taken] : [])];
  return parts.join('. ');
}

/** Removes what a job made; the notes of what it wrote only when it is past its time: until then its work may be taken back. */
export async function discardSubmit(job: Job, { store }: Pick<Services, 'store'>): Promise<void> {
  await removeFiles(job, [], store.blobs);
  if (job.ended !== undefined && job.ended + SUBMISSION_KEPT <= Date.now()) await removeNotes(job.id, store);
}

/** Requests for files with the headers that the client wants in them. */
function withHeaders({ headers }: SubmitInput, { fetchFile }: Services): Partial<Services> {
  if (headers === undefined || fetchFile === undefined) return {};
  const fetchOwn = (url: string, signal: AbortSignal) => fetchFile(url, signal, headers);
  return { fetchFile: Object.assign(fetchOwn, { fault: fetchFile.fault }) };
}

function toResult(next: SubmitCheckpoint): ChunkResult {
  return { checkpoint: next as unknown as JsonObject };
}

async function* pieceOf(text: string): AsyncIterable<Uint8Array> {
  yield Buffer.from(text);
}
