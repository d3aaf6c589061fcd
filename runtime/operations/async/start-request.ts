import { setTimeout as pause } from 'node:timers/promises';

import type { Principal } from '../../auth/scopes/principal.js';
import { neededOn, uniteNeeded, type NeededScopes } from '../../auth/access/needed-scopes.js';
import { scopesIn } from '../../auth/access/owner.js';
import type { Call, Reply } from '../../core/call.js';
import { ENDED, type Job } from '../../core/jobs.js';
import type { Services } from '../../core/services.js';
import { parsedBodyOf } from '../../core/write/parsed-bodies.js';
import { newId } from '../../fhir/id.js';
import { noticeOutcome } from '../../fhir/operation-outcome.js';
import { isObject, type JsonObject, type Resource } from '../../fhir/resource.js';
import { REQUEST, storeCall } from '../../jobs/request/request-input.js';
import { endJob, jobsOf, statusUrl } from '../common/jobs.js';
import { judgeCall } from './judge-call.js';
import { fitsInMemory, joinedReply } from './job-answer.js';

/** Interactions that are answered at once whatever the client prefers: they take no time. */
const SHORT: ReadonlySet<string> = new Set(['read', 'vread', 'capabilities']);

/**
 * Operations that are answered at once, or later in a form of their own: those that start jobs or tell of them, and those whose
 * answer is no resource.
 */
const OWN_FORM =
  /(?:^|-)(?:export|import|bulk-delete|bulk-patch|bulk-undo|bulk-submit|bulk-submit-status|bulk-publish|reindex|reindexing|reindexing-pass|reindex-terminology|poll-status|reindex-status|async-result|graphql|hfql-execute|sql-run)$|^(?:Patient-merge|replace-references)$/;

/** The longest that a request waits for its job, in seconds. */
const LONGEST_WAIT = 30;

/** Between two looks at a job, in milliseconds: at first, and at most. */
const LOOK = { first: 10, most: 250 };

/**
 * Returns whether a call is answered later: where the client prefers that, and unless the answer is made at once or has an
 * asynchronous form of its own. https://hl7.org/fhir/R5/async-bundle.html
 */
export function respondsLater(call: Call, method: string, { jobs }: Pick<Services, 'jobs'>): boolean {
  const { prefer, interaction, operation = '', body } = call;
  if (prefer.respondAsync !== true || jobs === undefined || method === 'HEAD') return false;
  if (SHORT.has(interaction) || OWN_FORM.test(operation)) return false;
  // Content that is no resource, and bodies whose faults are known by now, of which there is no more than the head.
  if (call.wantsContent === true || call.content !== undefined || call.bodyFault !== undefined) return false;
  return !(isObject(body) && (parsedBodyOf(body as Resource)?.faults ?? []).length > 0);
}

/**
 * Starts a job that makes the request of a call, and answers where its state is. What is wrong with the request by itself is
 * refused before. With `wait` in `Prefer` the answer is the ordinary one if that is there in time.
 *
 * @throws FhirError of status 400 and 403, `too-many-jobs`
 */
export async function startRequest(call: Call, services: Services): Promise<Reply> {
  await judgeCall(call, services);
  const { principal, prefer } = call;
  const { blobs } = services.store;
  const input = await storeCall(call, blobs, () => newId(Date.now()));
  const jobs = jobsOf(services);
  let job: Job;
  try {
    job = await jobs.start(REQUEST, JSON.parse(JSON.stringify(input)) as JsonObject, principal, keptScopes(principal));
  } catch (error) {
    if (input.sentKey !== undefined) await blobs.delete(input.sentKey);
    throw error;
  }
  const applied = { 'Preference-Applied': 'respond-async' };
  if (prefer.wait !== undefined) {
    const ended = await waitFor(job.id, Math.min(prefer.wait, LONGEST_WAIT), call, services);
    if (ended !== undefined && fitsInMemory(ended, services)) {
      const reply = await joinedReply(ended, services);
      await endJob(ended, services);
      return { ...reply, headers: { ...reply.headers, ...applied } };
    }
  }
  const text = 'The request is taken; ask the address in Content-Location for its state and its answer';
  return {
    status: 202,
    contentLocation: statusUrl('async-poll-status', job.id, services),
    headers: applied,
    resource: noticeOutcome(text),
  };
}

/** Returns the scopes that a job keeps which makes requests: all, because with fewer the answers would be others. */
export function keptScopes({ scope }: Principal): NeededScopes {
  return uniteNeeded([neededOn('*', 'cruds'), { scopes: [], customs: scopesIn(scope).customs }]);
}

/** Waits for the end of a job, so many seconds at most. @returns undefined: it has not ended, or it failed */
async function waitFor(id: string, seconds: number, { signal }: Call, services: Services): Promise<Job | undefined> {
  const until = performance.now() + seconds * 1000;
  const { draining } = services;
  for (let look = LOOK.first; ; look = Math.min(LOOK.most, look * 2)) {
    const job = await jobsOf(services).read(id);
    if (job === undefined || ENDED.has(job.state)) return job?.state === 'completed' ? job : undefined;
    const left = until - performance.now();
    if (left <= 0 || draining.aborted || signal?.aborted === true) return undefined;
    await pause(Math.min(look, left));
  }
}
