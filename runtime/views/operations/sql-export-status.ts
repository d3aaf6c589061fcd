import type { Call, Reply } from '../../core/call.js';
import { exportFileId, filesOf, VIEW_EXPORT } from '../../core/job-files/read-job-file.js';
import { ENDED, type Job } from '../../core/jobs.js';
import type { Services } from '../../core/services.js';
import { FhirError } from '../../fhir/errors.js';
import { formatInstant } from '../../fhir/instant.js';
import type { JsonObject } from '../../fhir/resource.js';
import type { ExportInput } from '../../jobs/export/export-input.js';
import { readArguments, valueOf } from '../../operations/common/arguments.js';
import { describeProgress, pauseBefore } from '../../operations/common/job-progress.js';
import { askedJob, endExport, expiryOf, statusUrl } from '../../operations/common/jobs.js';
import { describeExport } from './sql-export.js';

/**
 * `$sql-export-poll-status`: how far an export of tables is; when it has ended, 303 to its result; with DELETE its end. Only the client
 * that started it learns anything of it.
 *
 * @throws FhirError `parameter-invalid`, `job-unknown`, `scope-missing`, `view-invalid` and `job-failed` for one that failed
 */
export async function sqlExportStatus(call: Call, services: Services): Promise<Reply> {
  const found = readArguments(call, services);
  const id = valueOf(found, '_jobId');
  if (typeof id !== 'string') {
    const text = 'The parameter "_jobId" is required: the answer to $sql-export has it';
    throw new FhirError('parameter-invalid', text, { issue: 'required' });
  }
  const job = await askedJob([VIEW_EXPORT], id, call, services);
  if (job.state === 'cancelled') throw new FhirError('job-unknown');
  if (call.isDeletion === true) return endExport(job, services);
  const isResult = valueOf(found, '_result') === true;
  if (!ENDED.has(job.state)) {
    if (isResult) throw new FhirError('job-unknown', 'The export has not ended');
    return showProgress(job);
  }
  if (!isResult) {
    return { status: 303, location: `${statusUrl('sql-export-poll-status', id, services)}&_result=true` };
  }
  if (job.state === 'failed') throw failureOf(job);
  return showTables(job, call);
}

function showProgress(job: Job): Reply {
  const parameter = describeExport(job.id, job.input['exportId'], 'in-progress');
  return {
    status: 202,
    headers: { 'X-Progress': describeProgress(job), 'Retry-After': String(pauseBefore(job)) },
    resource: { resourceType: 'Parameters', parameter },
  };
}

/** Data that a view does not allow are the client's affair; all else is the server's. */
function failureOf({ failure = '', failureCode }: Job): FhirError {
  const text = `The export failed: ${failure}`;
  return new FhirError(failureCode === 'view-invalid' ? failureCode : 'job-failed', text);
}

function showTables(job: Job, { base }: Call): Reply {
  const { transactionTime, parts, queries = [] } = job.input as unknown as ExportInput;
  const ended = Number(job.result?.['ended'] ?? job.ended ?? 0);
  const files = filesOf(job).map(({ table }, at) => ({ table, url: `${base}/Binary/${exportFileId(job.id, at)}` }));
  const tables = [
    ...parts.flatMap(({ view }) => (view === undefined || view.isBelow === true ? [] : [view])),
    ...queries,
  ];
  const outputs = tables.map(({ name }): JsonObject => {
    const own = files.filter(({ table }) => table?.output === name);
    const location = own.map(({ url }): JsonObject => ({ name: 'location', valueUri: url }));
    return { name: 'output', part: [{ name: 'name', valueString: name }, ...location] };
  });
  const parameter: JsonObject[] = [
    ...describeExport(job.id, job.input['exportId'], 'completed'),
    { name: '_format', valueCode: tables[0]?.format ?? 'ndjson' },
    { name: 'exportStartTime', valueInstant: formatInstant(transactionTime) },
    { name: 'exportEndTime', valueInstant: formatInstant(ended) },
    { name: 'exportDuration', valueInteger: Math.max(0, Math.round((ended - transactionTime) / 1000)) },
    ...outputs,
  ];
  return {
    status: 200,
    headers: { Expires: expiryOf(job) },
    resource: { resourceType: 'Parameters', parameter },
  };
}
