import { neededOn } from '../../auth/access/needed-scopes.js';
import { scopeMissing } from '../../auth/access/refuse.js';
import { OPEN_ACCESS } from '../../auth/scopes/principal.js';
import type { Call, Reply } from '../../core/call.js';
import { exportFileId, filesOf, NDJSON } from '../../core/job-files/read-job-file.js';
import { ENDED, type Job } from '../../core/jobs.js';
import type { Services } from '../../core/services.js';
import {
  readSubmission,
  removeSubmission,
  standingTo,
  submissionKey,
  type Submission,
} from '../../core/bulk-data/submission.js';
import { FhirError } from '../../fhir/errors.js';
import { formatInstant } from '../../fhir/instant.js';
import { noticeOutcome } from '../../fhir/operation-outcome.js';
import { SUMMARY } from '../../jobs/submit/submit-input.js';
import { removeNotes } from '../../jobs/submit/take-back.js';
import { readArguments, valueOf } from '../common/arguments.js';
import { endJob, jobsOf } from '../common/jobs.js';
import { FORMATS, namesIn } from './bulk-submit.js';

const MANIFEST_TYPE = 'http://hl7.org/fhir/uv/bulkdata/StructureDefinition/BulkSubmitStatusManifest';

/** Seconds until it is worth asking again. */
const SOON = 2;

/**
 * `$bulk-submit-status`: where what becomes of a submission is found.
 * https://build.fhir.org/ig/HL7/bulk-data/submit.html#bulk-submit-status-request-flow
 *
 * @throws FhirError `job-unknown` for a submission that this client has not made; `scope-missing`
 */
export async function bulkSubmitStatus(call: Call, services: Services): Promise<Reply> {
  const found = readArguments(call, services);
  const { submitter, submissionId } = namesIn(found);
  const id = submissionKey(call.principal, submitter, submissionId);
  await ownSubmission(id, call, services);
  if (!FORMATS.has(String(valueOf(found, '_outputFormat') ?? NDJSON))) {
    const text = `The parameter "_outputFormat" is one of ${[...FORMATS].join(', ')}`;
    throw new FhirError('parameter-invalid', text, { parameter: '_outputFormat' });
  }
  const applied = call.prefer.respondAsync === true && { headers: { 'Preference-Applied': 'respond-async' } };
  return { status: 202, contentLocation: `$bulk-submit-poll-status?_submission=${id}`, ...applied };
}

/**
 * `$bulk-submit-poll-status`: what became of a submission so far, or with DELETE the removal of its lists, once all is done.
 * definitions/operations/bulk-submit-poll-status.json
 *
 * @throws FhirError `job-unknown`, `scope-missing`, `job-failed`
 */
export async function bulkSubmitPollStatus(call: Call, services: Services): Promise<Reply> {
  const id = String(valueOf(readArguments(call, services), '_submission'));
  const submission = await ownSubmission(id, call, services);
  const work = await Promise.all(
    worksOf(submission).map(async ({ job, url }) => ({ url, job: await jobsOf(services).read(job) })),
  );
  const isOver =
    submission.status !== 'in-progress' && work.every(({ job }) => job === undefined || ENDED.has(job.state));
  if (call.isDeletion === true) return remove(submission, isOver, services);
  const failed = work.find(({ job }) => job?.state === 'failed')?.job;
  if (failed !== undefined) throw new FhirError('job-failed', `The submission failed: ${failed.failure ?? ''}`);
  const body = { contentType: 'application/json', content: JSON.stringify(manifestOf(submission, work, call)), isJson: true } as const; // prettier-ignore
  if (isOver) return { status: 200, body };
  const ended = work.filter(({ job }) => job !== undefined && ENDED.has(job.state)).length;
  const progress = `${submission.status}, ${ended} of ${work.length} manifests`;
  return { status: 202, headers: { 'X-Progress': progress, 'Retry-After': String(SOON) }, body };
}

/** @throws FhirError `job-unknown`, `scope-missing` */
async function ownSubmission(id: string, { principal }: Call, services: Services): Promise<Submission> {
  const submission = (await readSubmission(services.store, id))?.submission;
  const standing = submission === undefined ? 'stranger' : standingTo(submission, principal, services);
  if (standing === 'narrower') throw scopeMissing(neededOn('*', 'cruds'), principal.access);
  if (submission === undefined || standing === 'stranger') {
    throw new FhirError('job-unknown', 'There is no such submission, or none of this client');
  }
  return submission;
}

/** The jobs that tell what became of a submission, each with the address of the manifest that it is about. */
function worksOf({ manifests, undoing }: Submission): readonly { readonly url: string; readonly job: string }[] {
  if (undoing !== undefined) return [{ url: manifests.at(-1)?.url ?? '', job: undoing }];
  const current = manifests.filter(({ replacedBy }) => replacedBy === undefined);
  const taken = current.flatMap(({ url, job }) => (job === undefined ? [] : [{ url, job }]));
  // What was taken back without another one in its place.
  const gone = manifests.flatMap(({ url, replacedBy }) => {
    const isOther = replacedBy === undefined || manifests.some(({ job }) => job === replacedBy);
    return isOther ? [] : [{ url, job: replacedBy }];
  });
  return [...taken, ...gone];
}

function manifestOf(
  { submissionId }: Submission,
  work: readonly { readonly url: string; readonly job: Job | undefined }[],
  { base, principal }: Call,
): object {
  return {
    submissionId,
    manifestType: MANIFEST_TYPE,
    transactionTime: formatInstant(Date.now()),
    requiresAccessToken: principal.access !== OPEN_ACCESS,
    outputFormat: NDJSON,
    output: [],
    deleted: [],
    error: work.flatMap(({ url, job }) =>
      (job === undefined ? [] : filesOf(job)).map(({ name, type, count }, at) => ({
        type,
        url: `${base}/Binary/${exportFileId(job!.id, at)}`,
        count,
        countSeverity: [{ code: name.endsWith(SUMMARY) ? 'information' : 'error', count }],
        manifestUrl: url,
      })),
    ),
  };
}

async function remove(submission: Submission, isOver: boolean, services: Services): Promise<Reply> {
  if (isOver) {
    const jobs = submission.manifests.flatMap(({ job }) => job ?? []);
    for (const id of new Set([...jobs, ...worksOf(submission).map(({ job }) => job)])) {
      const found = await jobsOf(services).read(id);
      if (found !== undefined) await endJob(found, services);
      await removeNotes(id, services.store);
    }
    await removeSubmission(services.store, submission.id);
  }
  const text = isOver
    ? 'The lists of the submission are removed'
    : 'The submission goes on; stop it by $bulk-submit with the submissionStatus stopped';
  return { status: 202, resource: noticeOutcome(text) };
}
