import type { Call, Reply, ReplyContent } from '../../core/call.js';
import { sendAudited } from '../../core/call-audit.js';
import { removeFiles } from '../../core/job-files/read-job-file.js';
import type { Job, JobProgress } from '../../core/jobs.js';
import type { Services } from '../../core/services.js';
import { FhirError } from '../../fhir/errors.js';
import { errorOutcome } from '../../fhir/operation-outcome.js';
import { pick } from '../../fhir/pick.js';
import type { JsonObject } from '../../fhir/resource.js';
import { writeJson } from '../../format/write-json.js';
import { setQueryBudget } from '../../store/query-budget.js';
import type { ChunkContext, ChunkResult } from '../engine/job-kind.js';
import {
  HEAD,
  largestAnswer,
  readCall,
  SENT_PREFIX,
  storeBody,
  type RequestInput,
  type RequestResult,
} from './request-input.js';
import { clearLedger, openLedger } from './stored-ledger.js';
import { LONG_QUERY_TIME } from '../../fhir/limits.js';

/** The job has the answer, and only removes what it needed for it. */
interface RequestCheckpoint {
  readonly result: RequestResult;
  readonly progress: JobProgress;
}

/** So often a request whose store is out of order is made again before that is its answer. */
const RETRIES = 3;

/** No job is kept for so long, in milliseconds: what is older was left by a process that died before the job was there. */
const ABANDONED = 7 * 24 * 3_600_000;

/**
 * Makes the request of a job, on behalf of its client, and keeps the answer. The first chunk does all of the work: a request has no
 * pages of which some could be answered. What it has written when its process dies is in the ledger. The second one cleans up.
 */
export async function requestChunk(context: ChunkContext): Promise<ChunkResult> {
  const { job, services } = context;
  const checkpoint = job.checkpoint as unknown as RequestCheckpoint | undefined;
  if (checkpoint !== undefined) {
    await clearLedger(job.id, services.store);
    await removeSent(job, services);
    return { result: checkpoint.result as unknown as JsonObject, progress: checkpoint.progress };
  }
  let progress: JobProgress = { done: 0, total: 1, unit: 'requests' };
  const report = (shown: JobProgress): void => {
    // An entry whose turn it is, is not done.
    progress = { ...shown, done: shown.total ?? shown.done };
    context.report(shown);
  };
  context.report(progress);
  const result = await answer({ ...context, report });
  const done: RequestCheckpoint = { result, progress: { ...progress, done: progress.total ?? 1 } };
  return { checkpoint: done as unknown as JsonObject, progress: done.progress, state: 'finalizing' };
}

async function answer(context: ChunkContext): Promise<RequestResult> {
  const { job, services, principal, signal } = context;
  const { store, limits, audit } = services;
  setQueryBudget(signal, LONG_QUERY_TIME);
  const ledger = await openLedger(job, store, context);
  const stored = await readCall(job.input as unknown as RequestInput, store.blobs, limits.nesting);
  const call: Call = { ...stored, principal, signal, ledger };
  const patient = { ...services, limits: { ...limits, queryTime: LONG_QUERY_TIME, answerTime: Infinity } };
  try {
    const reply = await services.entries.handle(call, patient);
    return await sendAudited(audit, call, reply, () => storeReply(job, reply, services));
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof FhirError)) throw error;
    const isOutOfOrder = error.status >= 500 && error.code !== 'too-costly';
    if (isOutOfOrder && job.failures < RETRIES) throw error;
    audit.failed(call, error);
    const body = await storeBody(job, [writeJson(errorOutcome(error))], store.blobs, Infinity);
    return { status: error.status, headers: error.headers, body: 'resource', ...body };
  }
}

async function storeReply(job: Job, reply: Reply, { store: { blobs }, limits }: Services): Promise<RequestResult> {
  const head = pick(reply, HEAD);
  const { body, bundle, json, resource, content, around } = reply;
  if (body !== undefined) throw new Error(`An answer of ${body.contentType} cannot be kept: it is no resource`);
  const text = json ?? (resource && writeJson(resource));
  const pieces =
    bundle !== undefined
      ? [bundle.head, ...bundle.entries.flatMap((entry, at) => (at === 0 ? [entry] : [',', entry])), bundle.tail]
      : content !== undefined && around !== undefined
        ? joined(around, content)
        : text === undefined
          ? undefined
          : [text];
  if (pieces === undefined) return head;
  return { ...head, body: 'resource', ...(await storeBody(job, pieces, blobs, largestAnswer(limits))) };
}

/** The JSON text of a resource whose content is apart. */
async function* joined({ head, tail }: NonNullable<Reply['around']>, content: ReplyContent): AsyncIterable<string> {
  yield head;
  let left = Buffer.alloc(0);
  for await (const piece of await content.open()) {
    const bytes = Buffer.concat([left, piece]);
    const whole = bytes.length - (bytes.length % 3);
    yield bytes.toString('base64', 0, whole);
    left = Buffer.from(bytes.subarray(whole));
  }
  yield left.toString('base64');
  yield tail;
}

/** Removes what a job made, and what it was sent. */
export async function discardRequest(job: Job, services: Services): Promise<void> {
  const { store } = services;
  await clearLedger(job.id, store);
  await removeSent(job, services);
  await removeFiles(job, [], store.blobs);
}

async function removeSent({ input }: Job, { store: { blobs } }: Services): Promise<void> {
  const { sentKey } = input as unknown as RequestInput;
  if (sentKey !== undefined) await blobs.delete(sentKey);
  for (const { key, put } of await blobs.list(SENT_PREFIX)) if (put < Date.now() - ABANDONED) await blobs.delete(key);
}
