import { OPEN_ACCESS } from '../../auth/scopes/principal.js';
import { noticeOutcome } from '../../fhir/operation-outcome.js';
import type { Call, Reply } from '../../core/call.js';
import { exportFileId, filesOf, IMPORT } from '../../core/job-files/read-job-file.js';
import type { Job } from '../../core/jobs.js';
import type { Services } from '../../core/services.js';
import { FhirError } from '../../fhir/errors.js';
import { formatInstant } from '../../fhir/instant.js';
import { NO_COUNTS, type ImportCounts, type ImportInput } from '../../jobs/import/import-input.js';
import { readArguments, valueOf } from '../common/arguments.js';
import { describeProgress } from '../common/job-progress.js';
import { askedJob, endJob } from '../common/jobs.js';

/**
 * `$import-poll-status`: how far an import is, its counts and errors, or with DELETE its end. What was imported stays.
 * definitions/operations/import-poll-status.json
 *
 * @throws FhirError `parameter-invalid`, `job-unknown`, `scope-missing`, `job-failed`
 */
export async function importStatus(call: Call, services: Services): Promise<Reply> {
  const id = String(valueOf(readArguments(call, services), '_jobId'));
  const job = await askedJob([IMPORT], id, call, services);
  if (job.state === 'cancelled') throw new FhirError('job-unknown');
  if (call.isDeletion === true) {
    const isRunning = await endJob(job, services);
    const text = isRunning ? 'The import is cancelled; what was imported stays' : 'The result of the import is removed';
    return { status: 202, resource: noticeOutcome(text) };
  }
  if (job.state === 'failed') throw new FhirError('job-failed', `The import failed: ${job.failure ?? ''}`);
  const headers = { 'X-Progress': describeProgress(job) };
  if (job.state !== 'completed') return { status: 202, headers: { ...headers, 'Retry-After': '1' } };
  const content = JSON.stringify(resultOf(job, call));
  return { status: 200, headers, body: { contentType: 'application/json', content, isJson: true } };
}

function resultOf(job: Job, { base, principal }: Call): object {
  const { files, request } = job.input as unknown as ImportInput;
  const counts = (job.result?.['counts'] ?? []) as unknown as readonly ImportCounts[];
  return {
    transactionTime: formatInstant(job.created),
    request,
    requiresAccessToken: principal.access !== OPEN_ACCESS,
    output: files.map(({ url, type }, i) => ({
      inputUrl: url,
      ...(type !== undefined && { type }),
      ...(counts[i] ?? NO_COUNTS),
    })),
    error: filesOf(job).map(({ type, count }, at) => ({
      type,
      url: `${base}/Binary/${exportFileId(job.id, at)}`,
      count,
    })),
  };
}
