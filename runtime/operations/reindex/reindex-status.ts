import { issueText } from '../../fhir/operation-outcome.js';
import type { Call, Reply } from '../../core/call.js';
import { ENDED, type Job } from '../../core/jobs.js';
import type { Services } from '../../core/services.js';
import type { JsonObject } from '../../fhir/resource.js';
import { REINDEX } from '../../jobs/reindex/reindex-job.js';
import { sumOf, UNNAMED, type Counts } from '../../jobs/reindex/report.js';
import { readArguments, valueOf } from '../common/arguments.js';
import { describeProgress } from '../common/job-progress.js';
import { askedJob, statusUrl } from '../common/jobs.js';

/** What a report is. */
const REPORT_TYPE = 'text/plain';

/**
 * `reindex-status`: how far a reindexing is, and its result as a Bundle or, with `_return=report`, as plain text.
 * definitions/operations/reindex-status.json
 *
 * @throws FhirError `parameter-invalid`, `job-unknown`, `scope-missing`
 */
export async function reindexStatus(call: Call, services: Services): Promise<Reply> {
  const found = readArguments(call, services);
  const id = String(valueOf(found, '_jobId'));
  const job = await askedJob([REINDEX], id, call, services);
  const progress = describeProgress(job);
  const headers = { 'X-Progress': progress };
  if (!ENDED.has(job.state))
    return { status: 202, headers, resource: outcome('information', 'informational', progress) };
  if (valueOf(found, '_return') === 'report') {
    const content = String(job.result?.['report'] ?? `${progress}\n${job.failure ?? ''}\n`);
    return { status: 200, headers, body: { contentType: `${REPORT_TYPE}; charset=utf-8`, content } };
  }
  const { status, issue } = resultOf(job, `${call.base}/${statusUrl('reindex-status', id, services)}&_return=report`);
  const response = { status, outcome: { resourceType: 'OperationOutcome', issue } };
  return { status: 200, headers, resource: { resourceType: 'Bundle', type: 'batch-response', entry: [{ response }] } };
}

function resultOf({ state, failure = '', result }: Job, reportUrl: string): { status: string; issue: JsonObject[] } {
  if (state === 'cancelled')
    return { status: '200 OK', issue: [issueOf('warning', 'processing', 'The job was cancelled')] };
  if (state === 'failed') return { status: FAILED, issue: [issueOf('error', 'processing', failure)] };
  const counts = result?.['counts'] as unknown as Counts;
  const { failed } = sumOf(counts);
  const where = issueOf('information', 'informational', `The report as plain text: ${reportUrl}`);
  if (failed > 0) {
    const text = `${failed} resources could not be indexed; the report names them`;
    return { status: FAILED, issue: [issueOf('error', 'processing', text), where] };
  }
  if (counts.hasUnnamedFailures === true)
    return { status: FAILED, issue: [issueOf('error', 'processing', UNNAMED), where] };
  return { status: '200 OK', issue: [issueOf('information', 'success', String(result?.['report'])), where] };
}

const FAILED = '500 Internal Server Error';

function issueOf(severity: string, code: string, text: string): JsonObject {
  return { severity, code, ...issueText(text) };
}

function outcome(severity: string, code: string, text: string): JsonObject {
  return { resourceType: 'OperationOutcome', issue: [issueOf(severity, code, text)] };
}
