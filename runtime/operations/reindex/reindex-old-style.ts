import { setTimeout } from 'node:timers/promises';

import type { Call, Reply } from '../../core/call.js';
import { ENDED, type Job } from '../../core/jobs.js';
import { isOwnJob } from '../../core/job-files/own-job.js';
import type { Services } from '../../core/services.js';
import { FhirError } from '../../fhir/errors.js';
import { yieldToEventLoop } from '../../fhir/yield-to-event-loop.js';
import { REINDEX, type ReindexInput } from '../../jobs/reindex/reindex-job.js';
import { FIRST_PAGE, reindexPage } from '../../jobs/reindex/reindex.js';
import { sumOf, type Counts } from '../../jobs/reindex/report.js';
import { readArguments, valueOf } from '../common/arguments.js';
import { describeProgress } from '../common/job-progress.js';
import { jobsOf } from '../common/jobs.js';
import { allParts, startJob } from './reindex.js';

/** Resources of one step of the job. */
const BATCH = 500;

/** What the answer to a pass says where jobs of others worked. */
const OTHERS = ', and others by jobs that this token did not start';

/** Time between two looks at a job, in milliseconds. */
const PAUSE = 100;

/**
 * `$mark-all-resources-for-reindexing`: what is marked is made anew at once, by a job.
 * definitions/operations/mark-all-resources-for-reindexing.json
 *
 * @throws FhirError `parameter-invalid`
 */
export async function markForReindexing(call: Call, services: Services): Promise<Reply> {
  const type = valueOf(readArguments(call, services), 'type');
  if (typeof type === 'string' && !services.tables.resourceTypes.includes(type)) {
    throw new FhirError(
      'parameter-invalid',
      `The parameter "type" names no resource type with ${JSON.stringify(type)}`,
    );
  }
  const parts = typeof type === 'string' ? [{ type }] : await allParts(services);
  const id = await startJob({ parts, isWhole: true, makesEntries: true, batchSize: BATCH }, call, services);
  return status(
    `The resources of ${typeof type === 'string' ? type : 'all types'} are marked; the job ${id} indexes them`,
  );
}

/**
 * `$perform-reindexing-pass`: has jobs index what is marked, and what other definitions have indexed, and answers when they are done, or
 * when the time for an answer is over. definitions/operations/perform-reindexing-pass.json
 */
export async function performPass(call: Call, services: Services): Promise<Reply> {
  readArguments(call, services);
  const jobs = jobsOf(services);
  const begun = performance.now();
  const isUnderWay = ({ type, state }: Job): boolean => type === REINDEX && !ENDED.has(state);
  const ids = (await jobs.list()).filter(isUnderWay).map(({ id }) => id);
  if (ids.length === 0) {
    const parts = await staleParts(services);
    if (parts.length === 0) return status('0 resources were indexed: none is marked');
    ids.push(await startJob({ parts, isWhole: true, makesEntries: true, batchSize: BATCH }, call, services));
  }
  let indexed = 0;
  let others = '';
  for (const id of ids) {
    let job = await jobs.read(id);
    // Of a job that this token did not start nothing is said but that there is one.
    const isOwn = job !== undefined && isOwnJob(job, call, services);
    const name = isOwn ? `job ${id}` : 'job that this token did not start';
    while (job !== undefined && isUnderWay(job)) {
      if (performance.now() - begun >= (services.limits.answerTime ?? Infinity)) {
        return status(`A pass is under way: ${name}${isOwn ? `, ${describeProgress(job)}` : ''}`);
      }
      call.signal?.throwIfAborted();
      await setTimeout(PAUSE);
      job = await jobs.read(id);
    }
    if (job?.state !== 'completed') {
      const why = isOwn ? (job?.failure ?? 'was cancelled') : 'did not complete';
      return status(`${indexed} resources were indexed; the ${name} ${why}`);
    }
    if (!isOwn) others = OTHERS;
    if (!isOwn) continue;
    const { changed, unchanged } = sumOf(job.result?.['counts'] as unknown as Counts);
    indexed += changed + unchanged;
  }
  return status(`${indexed} resources were indexed${others}`);
}

/** What has index entries that other definitions made; all types where it is a parameter that types share. */
async function staleParts(services: Services): Promise<ReindexInput['parts']> {
  const rows = await services.indexStatus.notCurrent('now');
  if (rows.length === 0) return [];
  const stale = new Set(rows.map((name) => name.slice(0, name.indexOf('.'))));
  const all = await allParts(services);
  const isShared = [...stale].some((name) => !services.tables.resourceTypes.includes(name));
  return isShared ? all : all.filter(({ type }) => stale.has(type));
}

/** The types whose resources the terminology service looks up by their index entries. */
const TERMINOLOGY = ['CodeSystem', 'ConceptMap', 'NamingSystem', 'ValueSet'];

/**
 * `$reindex-terminology`: makes the index entries anew by which code systems, value sets and maps are found, before it answers.
 * definitions/operations/reindex-terminology.json
 */
export async function reindexTerminology(call: Call, services: Services): Promise<Reply> {
  readArguments(call, services);
  const signal = call.signal ?? new AbortController().signal;
  const job = { ...services, signal, breathe: yieldToEventLoop() };
  for (const type of TERMINOLOGY.filter((each) => services.tables.resourceTypes.includes(each))) {
    let place: { size: number; after: string | undefined } = { size: FIRST_PAGE, after: undefined };
    do {
      const page = await reindexPage({ type, ...place }, job);
      place = { size: page.size, after: page.next };
    } while (place.after !== undefined);
  }
  return parameters([{ name: 'success', valueBoolean: true }]);
}

function status(text: string): Reply {
  return parameters([{ name: 'status', valueString: text }]);
}

function parameters(parameter: { name: string; valueString?: string; valueBoolean?: boolean }[]): Reply {
  return { status: 200, resource: { resourceType: 'Parameters', parameter } };
}
