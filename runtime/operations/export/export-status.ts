import { OPEN_ACCESS } from '../../auth/scopes/principal.js';
import type { Call, Reply } from '../../core/call.js';
import { EXPORT, exportFileId, filesOf, NDJSON } from '../../core/job-files/read-job-file.js';
import type { Job } from '../../core/jobs.js';
import type { Services } from '../../core/services.js';
import { FhirError } from '../../fhir/errors.js';
import { formatInstant } from '../../fhir/instant.js';
import type { ExportInput } from '../../jobs/export/export-input.js';
import { readArguments, valueOf } from '../common/arguments.js';
import { describeProgress, pauseBefore } from '../common/job-progress.js';
import { askedJob, endExport, expiryOf, statusUrl } from '../common/jobs.js';
import { manifestRange } from './manifest-range.js';

/**
 * `$export-poll-status`: how far an export is, the list of its files, or with DELETE its end and the removal of its files. Only the
 * client that started it learns anything of it. https://hl7.org/fhir/uv/bulkdata/STU2/export.html#bulk-data-status-request
 *
 * @throws FhirError `parameter-invalid`, `job-unknown`, `scope-missing`, `job-failed`
 */
export async function exportStatus(call: Call, services: Services): Promise<Reply> {
  const sent = readArguments(call, services);
  const id = valueOf(sent, '_jobId');
  if (typeof id !== 'string') {
    const text =
      'The parameter "_jobId" is required: the URL in the header Content-Location of the answer to $export has it';
    throw new FhirError('parameter-invalid', text, { issue: 'required' });
  }
  const job = await askedJob([EXPORT], id, call, services);
  if (job.state === 'cancelled') throw new FhirError('job-unknown');
  if (call.isDeletion === true) return endExport(job, services);
  if (job.state === 'failed') throw new FhirError('job-failed', `The export failed: ${job.failure ?? ''}`);
  const page = Number(valueOf(sent, '_page') ?? 0);
  const isPartial = job.input['isPartial'] === true;
  const range = isPartial ? manifestRange(page) : { from: 0, to: Infinity };
  const files = filesOf(job);
  const isDone = job.state === 'completed';
  if (page > 0 && (!isPartial || (isDone && files.length <= range.from))) {
    throw new FhirError('parameter-invalid', `The export has no manifest ${page}; the link "next" of the one before leads to it`, { expression: '_page' }); // prettier-ignore
  }
  if (!isDone && !(isPartial && files.length >= range.to)) return showProgress(job);
  const hasNext = files.length > range.to && (isDone || files.length >= manifestRange(page + 1).to);
  const next = hasNext ? nextUrl(id, page, services) : undefined;
  return showFiles(job, range, next, call);
}

function nextUrl(id: string, page: number, services: Services): string {
  return `${statusUrl('export-poll-status', id, services)}&_page=${page + 1}`;
}

function showProgress(job: Job): Reply {
  return { status: 202, headers: { 'X-Progress': describeProgress(job), 'Retry-After': String(pauseBefore(job)) } };
}

/** @param range of the files that are listed, by their places @param next where the following manifest is */
function showFiles(
  job: Job,
  { from, to }: { readonly from: number; readonly to: number },
  next: string | undefined,
  { base, principal }: Call,
): Reply {
  const { transactionTime, request, exportId, organizedBy } = job.input as unknown as ExportInput;
  const items = filesOf(job)
    .slice(from, to)
    .map(({ type, count, isOfDeleted, goesOn }, i) => {
      const urlOf = (at: number): string => `${base}/Binary/${exportFileId(job.id, from + at)}`;
      const typed = organizedBy === undefined || isOfDeleted === true ? { type } : undefined;
      const more = goesOn === true ? { continuesInFile: urlOf(i + 1) } : undefined;
      return { isOfDeleted, item: { ...typed, url: urlOf(i), ...more, count } };
    });
  const output = items.filter(({ isOfDeleted }) => isOfDeleted !== true).map(({ item }) => item);
  const deleted = items.filter(({ isOfDeleted }) => isOfDeleted === true).map(({ item }) => item);
  const manifest = {
    transactionTime: formatInstant(transactionTime),
    request,
    requiresAccessToken: principal.access !== OPEN_ACCESS,
    outputFormat: NDJSON,
    ...(organizedBy !== undefined && { outputOrganizedBy: organizedBy }),
    output,
    deleted,
    error: [],
    ...(items.length === 0 && { msg: 'There was nothing to export' }),
    ...(next !== undefined && { link: [{ relation: 'next', url: `${base}/${next}` }] }),
    ...(exportId !== undefined && { extension: { exportId } }),
  };
  const body = { contentType: 'application/json', content: JSON.stringify(manifest), isJson: true } as const;
  if (job.state !== 'completed') return { ...showProgress(job), body };
  return {
    status: 200,
    headers: { Expires: expiryOf(job), 'X-Progress': describeProgress(job) },
    body,
  };
}
