import { OPEN_ACCESS } from '../../auth/scopes/principal.js';
import type { Call, Reply } from '../../core/call.js';
import { ENDED, type Job } from '../../core/jobs.js';
import type { Services } from '../../core/services.js';
import { FhirError } from '../../fhir/errors.js';
import { noticeOutcome } from '../../fhir/operation-outcome.js';
import { BULK } from '../../jobs/bulk/bulk-input.js';
import { REQUEST, type RequestInput } from '../../jobs/request/request-input.js';
import { readArguments, valueOf } from '../common/arguments.js';
import { describeProgress, pauseBefore } from '../common/job-progress.js';
import { askedJob, endJob, expiryOf, jobsOf, statusUrl } from '../common/jobs.js';
import { bundledReply, joinedReply, ordinaryReply } from './job-answer.js';
import { openPollLimit } from './poll-limit.js';

const polls = openPollLimit();

/**
 * `$async-poll-status`: how far a request is that is answered later, its answer in a Bundle, or with DELETE its end and the removal of
 * the answer. Only the client that sent the request learns anything of it. https://hl7.org/fhir/R5/async-bundle.html
 *
 * @throws FhirError `parameter-invalid`, `job-unknown`, `scope-missing`, `asked-too-often`
 */
export async function asyncStatus(call: Call, services: Services): Promise<Reply> {
  const job = await requestedJob(call, services);
  if (call.isDeletion === true) {
    const isRunning = await endJob(job, services);
    const text = isRunning ? `The request is cancelled${await entriesDone(job.id, services)}` : 'The answer is removed';
    return { status: 202, resource: noticeOutcome(text) };
  }
  polls.check(job.id);
  if (!ENDED.has(job.state)) {
    const headers = { 'X-Progress': describeProgress(job), 'Retry-After': String(pauseBefore(job)) };
    return { status: 202, headers };
  }
  if ((job.input as unknown as Partial<RequestInput>).prefer?.isRedirect === true)
    return { status: 303, location: statusUrl('async-result', job.id, services) };
  const reply = await bundledReply(job, services);
  return { ...reply, headers: { Expires: expiryOf(job), 'X-Progress': describeProgress(job) } };
}

/**
 * `$async-result`: the answer to a request that was answered later, as the request by itself would have got it, status and headers
 * included.
 *
 * @throws FhirError `parameter-invalid`, `job-unknown`, `scope-missing`, `asked-too-often`
 */
export async function asyncResult(call: Call, services: Services): Promise<Reply> {
  const job = await requestedJob(call, services);
  if (!ENDED.has(job.state)) throw new FhirError('job-unknown', 'The answer is not there yet; ask for the state first');
  polls.check(job.id);
  const reply = call.isEntry === true ? await joinedReply(job, services) : await ordinaryReply(job, services);
  // With authorization all answers are for one client.
  if (call.principal.access !== OPEN_ACCESS) return reply;
  return { ...reply, headers: { ...reply.headers, 'Cache-Control': 'no-store' } };
}

/** Says how many entries of a batch stay. In another process the last one may not be counted. */
async function entriesDone(id: string, services: Services): Promise<string> {
  const { done = 0, total = 0, unit = '' } = (await jobsOf(services).read(id))?.progress ?? {};
  return unit === 'entries' ? `; ${done} of ${total} entries were done, and stay` : '';
}

async function requestedJob(call: Call, services: Services): Promise<Job> {
  const id = valueOf(readArguments(call, services), '_jobId');
  if (typeof id !== 'string') {
    const text = 'The parameter "_jobId" is required: the URL in the header Content-Location of the answer 202 has it';
    throw new FhirError('parameter-invalid', text, { issue: 'required' });
  }
  const job = await askedJob([REQUEST, ...Object.values(BULK)], id, call, services);
  if (job.state === 'cancelled') throw new FhirError('job-unknown');
  return job;
}
