import type { WiredOperation } from '../../contract/index.js';
import type { Call, Reply } from '../../core/call.js';
import { ENDED, type Job, type Jobs } from '../../core/jobs.js';
import { ownJob } from '../../core/job-files/own-job.js';
import type { Services } from '../../core/services.js';
import { FhirError } from '../../fhir/errors.js';
import { formatHttpDate } from '../../fhir/instant.js';
import { noticeOutcome } from '../../fhir/operation-outcome.js';
import { JOB_KINDS } from '../../jobs/kinds.js';

/** The jobs of the server. @throws FhirError `operation-unsupported` where it has none */
export function jobsOf({ jobs }: Pick<Services, 'jobs'>): Jobs {
  if (jobs === undefined) throw new FhirError('operation-unsupported', 'This server does no work after its answers');
  return jobs;
}

/** Where a job is asked for by an operation, below the base: `$export-poll-status?_jobId=…`. */
export function statusUrl(operation: WiredOperation, id: string, { tables }: Pick<Services, 'tables'>): string {
  const name = tables.operations.find((row) => row.id === operation)?.name ?? operation;
  return `$${name}?_jobId=${id}`;
}

/**
 * The job that a client asks about. Those of other kinds and of other clients are as good as none.
 *
 * @throws FhirError `job-unknown`; `scope-missing` where the token gives less than the one that started it
 */
export async function askedJob(types: readonly string[], id: string, call: Call, services: Services): Promise<Job> {
  const found = await jobsOf(services).read(id);
  const job = found !== undefined && types.includes(found.type) ? ownJob(found, call, services) : undefined;
  if (job === undefined) throw new FhirError('job-unknown');
  return job;
}

/** Cancels a job, or removes one that has ended, with what it made. @returns whether it was running */
export async function endJob({ id, state }: Job, services: Services): Promise<boolean> {
  const jobs = jobsOf(services);
  const isRunning = !ENDED.has(state);
  if (!isRunning || !(await jobs.cancel(id))) await jobs.remove(id);
  return isRunning;
}

/** Ends an export, of resources or of tables, and removes its files. */
export async function endExport(job: Job, services: Services): Promise<Reply> {
  const isRunning = await endJob(job, services);
  const text = isRunning ? 'The export is cancelled, and its files are removed' : 'The files of the export are removed';
  return { status: 202, resource: noticeOutcome(text) };
}

/** The header `Expires` of a job that has ended: when its kind lets it go. */
export function expiryOf({ type, ended = 0 }: Pick<Job, 'type' | 'ended'>): string {
  const { retention = 0 } = JOB_KINDS.find((kind) => kind.type === type) ?? {};
  return formatHttpDate(ended + retention);
}
