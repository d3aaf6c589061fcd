import type { Call } from '../../core/call.js';
import { fileKey, removeFiles } from '../../core/job-files/read-job-file.js';
import type { Job } from '../../core/jobs.js';
import { readStored } from '../../core/read-stored.js';
import type { Services } from '../../core/services.js';
import type { WriteLedger } from '../../core/write/write-ledger.js';
import { FhirError } from '../../fhir/errors.js';
import { LONG_QUERY_TIME } from '../../fhir/limits.js';
import type { JsonObject } from '../../fhir/resource.js';
import { setQueryBudget } from '../../store/query-budget.js';
import type { ChunkContext, ChunkResult } from '../engine/job-kind.js';
import { writeOne } from '../write-one.js';
import { clearLedger, openLedger } from '../request/stored-ledger.js';
import {
  BULK,
  pageFile,
  type BulkCheckpoint,
  type BulkCounts,
  type BulkInput,
  type PlannedChange,
} from './bulk-input.js';
import { writeReport } from './report.js';

/** Resources of a page. */
const PAGE = 200;

/** Refusals that are named. */
const NAMED = 100;

/** After so many refusals without a success the job ends: what is asked is refused for all. */
const HOPELESS = 1000;

const NOTHING: BulkCounts = { done: 0, skipped: 0, failed: 0, failures: [] };

/**
 * Changes what criteria find, page by page. One chunk plans a page: which versions are to be changed. The next one changes them,
 * each like a request of its client by itself, with hooks, references, scopes and audit; the ledger keeps a process that takes over
 * from doing one of them twice.
 */
export async function bulkChunk(context: ChunkContext): Promise<ChunkResult> {
  const { job, signal, services } = context;
  const input = job.input as unknown as BulkInput;
  setQueryBudget(signal, LONG_QUERY_TIME);
  const at = job.checkpoint as unknown as BulkCheckpoint | undefined;
  if (at === undefined) {
    const total = await countMatches(input, services, signal);
    return toResult({ part: 0, page: 0, total, counts: NOTHING });
  }
  if (at.planned !== undefined) return toResult(await changePage(at, at.planned, input, context));
  // The page before is saved by now.
  await clearLedger(job.id, services.store);
  const isHopeless = at.counts.done === 0 && at.counts.failed >= HOPELESS;
  const planned = isHopeless ? undefined : await planPage(at, input, context);
  if (planned !== undefined) return toResult(planned);
  const report = writeReport(job.type, at.counts);
  return { result: { status: 200, body: 'resource', text: JSON.stringify(report), pages: at.page } };
}

/** How many resources criteria find. @throws FhirError `too-costly` */
export async function countMatches(
  { parts, undoes }: Pick<BulkInput, 'parts' | 'undoes'>,
  { store }: Pick<Services, 'store'>,
  signal: AbortSignal | undefined,
): Promise<number> {
  if (undoes !== undefined) return 0;
  let sum = 0;
  for (const part of parts) {
    const { total = 0 } = await store.find({ ...part, sort: [], count: 0, total: 'accurate' }, signal);
    sum += total;
  }
  return sum;
}

/** @returns undefined: there is no page any more */
async function planPage(
  at: BulkCheckpoint,
  input: BulkInput,
  { services: { store }, signal }: ChunkContext,
): Promise<BulkCheckpoint | undefined> {
  const { undoes } = input;
  if (undoes !== undefined) {
    if (at.page >= undoes.pages) return undefined;
    const blob = await store.blobs.get(fileKey(undoes, pageFile(at.page)));
    if (blob === undefined) throw new FhirError('job-unknown', 'What the job changed is not known any more');
    const pieces: Uint8Array[] = [];
    for await (const piece of blob.stream) pieces.push(Uint8Array.from(piece));
    return { ...at, planned: JSON.parse(Buffer.concat(pieces).toString('utf8')) as PlannedChange[] };
  }
  const part = input.parts[at.part];
  if (part === undefined) return undefined;
  const { after, ...rest } = at;
  const page = await store.find({ ...part, sort: [], after, count: PAGE, total: 'none' }, signal);
  const planned = page.versions
    .filter(({ lastUpdated }) => lastUpdated <= input.until)
    .map(({ type, id, version }): PlannedChange => [type, id, version]);
  if (page.next !== undefined) return { ...rest, after: page.next, planned };
  return { ...rest, part: at.part + 1, planned };
}

async function changePage(
  { planned: _planned, ...at }: BulkCheckpoint,
  planned: readonly PlannedChange[],
  input: BulkInput,
  context: ChunkContext,
): Promise<BulkCheckpoint> {
  const { job, services, report, signal } = context;
  const { store } = services;
  const ledger = await openLedger(job, store, { ...context, report: () => {} });
  let { done, skipped, failed } = at.counts;
  const failures = [...at.counts.failures];
  const changed: PlannedChange[] = [];
  for (const [i, change] of planned.entries()) {
    await ledger.turn(i, planned.length);
    report({ done: done + skipped + failed, total: at.total, unit: 'resources' });
    const outcome = await changeOne(change, ledger.ofEntry(i), input, context);
    if (outcome === 'done') {
      done++;
      changed.push(change);
    } else if (outcome === 'skipped') skipped++;
    else {
      failed++;
      if (failures.length < NAMED) failures.push(`${change[0]}/${change[1]}: ${outcome.message}`);
    }
  }
  signal.throwIfAborted();
  if (job.type !== BULK.undo && planned.length > 0)
    await store.blobs.put(fileKey(job, pageFile(at.page)), piece(JSON.stringify(changed)), Infinity);
  return { ...at, page: planned.length > 0 ? at.page + 1 : at.page, counts: { done, skipped, failed, failures } };
}

/** Changes a resource if it is still at the version that was planned. */
async function changeOne(
  [type, id, version]: PlannedChange,
  ledger: WriteLedger,
  input: BulkInput,
  context: ChunkContext,
): Promise<'done' | 'skipped' | FhirError> {
  const { services, signal } = context;
  const call = await callFor([type, id, version], ledger, input, context);
  if (call === undefined) return 'skipped';
  return writeOne(call, services, signal);
}

/** The request that makes a change, or undoes it; undefined: the resource is not any more what it was. */
async function callFor(
  [type, id, version]: PlannedChange,
  ledger: WriteLedger,
  { base, trace, patch, undoes }: BulkInput,
  { principal, signal, services }: ChunkContext,
): Promise<Call | undefined> {
  const plain = {
    ...{ type, id, base, principal, signal, ledger, params: new URLSearchParams() },
    ...{ prefer: { return: 'minimal' as const }, ...(trace !== undefined && { trace }) },
  };
  const conditions = { ifMatch: `W/"${version}"` };
  if (undoes === undefined) {
    if (patch === undefined) return { ...plain, interaction: 'delete', conditions };
    return { ...plain, interaction: 'patch', conditions, patch: { format: 'fhirpath', parameters: patch } };
  }
  const { store } = services;
  if (ledger.noted() === undefined) {
    const current = await store.read(type, id);
    if (current?.version !== version + 1) return undefined;
  }
  const before = await store.readVersion(type, id, version);
  if (before?.json === undefined) return undefined;
  const body = await readStored(before.json, services);
  // A deletion has no version that a client could name.
  const isDeleted = undoes.type === BULK.delete;
  return { ...plain, interaction: 'update', body, conditions: isDeleted ? {} : { ifMatch: `W/"${version + 1}"` } };
}

function toResult(at: BulkCheckpoint): ChunkResult {
  const { done, skipped, failed } = at.counts;
  const looked = done + skipped + failed;
  return {
    checkpoint: at as unknown as JsonObject,
    progress: { done: looked, total: Math.max(looked, at.total), unit: 'resources' },
  };
}

async function* piece(text: string): AsyncIterable<Uint8Array> {
  yield Buffer.from(text);
}

/** Removes what a job noted. Afterwards it cannot be undone. */
export async function discardBulk(job: Job, { store }: Services): Promise<void> {
  await clearLedger(job.id, store);
  await removeFiles(job, [], store.blobs);
}
