import { neededOn, uniteNeeded } from '../../auth/access/needed-scopes.js';
import { ownerOf } from '../../auth/access/owner.js';
import { scopeMissing } from '../../auth/access/refuse.js';
import type { Call, Reply } from '../../core/call.js';
import { NDJSON, SUBMIT } from '../../core/job-files/read-job-file.js';
import type { Services } from '../../core/services.js';
import {
  readSubmission,
  replaceSubmission,
  standingTo,
  submissionKey,
  type Submission,
  type SubmissionRow,
} from '../../core/bulk-data/submission.js';
import { FhirError } from '../../fhir/errors.js';
import { noticeOutcome } from '../../fhir/operation-outcome.js';
import { isObject, type JsonObject, type JsonValue } from '../../fhir/resource.js';
import type { SubmitInput } from '../../jobs/submit/submit-input.js';
import { readArguments, valueOf, type Arguments } from '../common/arguments.js';
import { Faults } from '../common/faults.js';
import { jobsOf } from '../common/jobs.js';

/** Names under which clients ask for the only format of the files. */
export const FORMATS: ReadonlySet<string> = new Set([NDJSON, 'application/ndjson', 'ndjson']);

/** The states of a submission. http://hl7.org/fhir/event-status */
const STATES = ['in-progress', 'completed', 'stopped'] as const;
const SYSTEM = 'http://hl7.org/fhir/event-status';

/** Manifests of a submission, headers for requests of files, and characters of each. */
const MOST = { manifests: 1000, headers: 20, header: 8192 };

/** Headers that the connection is made with. */
const OWN_HEADERS =
  /^(?:host|connection|keep-alive|content-.*|transfer-encoding|te|trailer|upgrade|expect|proxy-.*|range|if-.*|accept-encoding)$/i;

/** What a request asks for. */
interface Asked {
  readonly submitter: JsonObject;
  readonly submissionId: string;
  readonly state: (typeof STATES)[number];
  readonly url: string | undefined;
  readonly replaces: string | undefined;
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * `$bulk-submit`: takes manifests of files, says that there will be no more, or has all taken back. Each manifest is a job.
 * https://build.fhir.org/ig/HL7/bulk-data/submit.html
 *
 * @throws FhirError `scope-missing`, `parameter-invalid`, `precondition-failed`, `too-many-jobs`
 */
export async function bulkSubmit(call: Call, services: Services): Promise<Reply> {
  const { access } = call.principal;
  const types = services.tables.resourceTypes.filter((type) => access.isWhole(type, 'cu'));
  if (types.length === 0) throw scopeMissing(neededOn('*', 'cu'), access);
  const asked = await readAsked(call, services);
  if (asked.state === 'stopped') return stop(asked, call, services, types);
  if (asked.url === undefined && asked.replaces === undefined) return complete(asked, call, services);
  return add(asked, call, services, types);
}

async function readAsked(call: Call, services: Services): Promise<Asked> {
  const found = readArguments(call, services);
  const faults = new Faults();
  const text = (name: string): string | undefined => valueOf(found, name) as string | undefined;
  const [url, replaces, base] = [text('manifestUrl'), text('replacesManifestUrl'), text('fhirBaseUrl')];
  const { system, code = 'in-progress' } = (valueOf(found, 'submissionStatus') ?? {}) as JsonObject;
  const state = STATES.find((each) => each === code);
  if (state === undefined || (system !== undefined && system !== SYSTEM)) {
    faults.add('submissionStatus', `The parameter "submissionStatus" is a Coding of ${SYSTEM}: ${STATES.join(', ')}`);
  }
  if (!found.has('submissionStatus') && url === undefined && replaces === undefined) {
    faults.add('manifestUrl', 'One of "submissionStatus" and "manifestUrl" is required', 'required');
  }
  if (url !== undefined && base === undefined) {
    faults.add('fhirBaseUrl', 'The parameter "fhirBaseUrl" is required where "manifestUrl" is given', 'required');
  }
  if (state === 'stopped' && (url ?? replaces) !== undefined) {
    faults.add('manifestUrl', 'What is stopped takes no manifest; leave out manifestUrl and replacesManifestUrl');
  }
  if (url !== undefined) {
    const fault = services.fetchFile === undefined ? NOT_ALLOWED : services.fetchFile.fault(url);
    if (fault !== undefined) faults.add('manifestUrl', `${JSON.stringify(url.slice(0, 200))} ${fault}`);
  }
  if (!FORMATS.has((text('outputFormat') ?? NDJSON).split(';')[0]!.trim())) {
    faults.add('outputFormat', `The parameter "outputFormat" is one of ${[...FORMATS].join(', ')}`, 'not-supported');
  }
  for (const name of ['oauthMetadataUrl', 'fileEncryptionKey']) {
    if (found.has(name)) faults.add(name, `The parameter "${name}" is not supported; send plain files, with fileRequestHeader`, 'not-supported'); // prettier-ignore
  }
  const headers = readHeaders(found, faults);
  faults.check();
  return { ...namesIn(found), state: state ?? 'in-progress', url, replaces, headers };
}

const NOT_ALLOWED = 'is on no server that the configuration allows (import.allow)';

function readHeaders(found: Arguments, faults: Faults): Readonly<Record<string, string>> {
  const headers: Record<string, string> = {};
  const all = found.get('fileRequestHeader') ?? [];
  if (all.length > MOST.headers) faults.add('fileRequestHeader', `There are ${MOST.headers} headers at most`);
  for (const each of all.slice(0, MOST.headers)) {
    const parts = 'parts' in each ? each.parts : new Map();
    const [name, value] = [String(valueOf(parts, 'headerName')), String(valueOf(parts, 'headerValue'))];
    const isWhole = /^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}$/.test(name) && /^[\x20-\x7e]*$/.test(value);
    if (!isWhole || value.length > MOST.header || OWN_HEADERS.test(name)) {
      faults.add('fileRequestHeader', 'A header is no header of requests, or one that the server sets itself');
    } else headers[name.toLowerCase()] = value;
  }
  return headers;
}

/** Takes in a manifest, or another one in the place of one before. */
async function add(asked: Asked, call: Call, services: Services, types: readonly string[]): Promise<Reply> {
  const { url, replaces } = asked;
  const row = await change(asked, call, services, (submission) => {
    const { manifests } = submission;
    checkOpen(submission);
    const known = manifests.find((each) => each.url === url && (each.job ?? each.replacedBy) !== undefined);
    if (known !== undefined) throw invalid('manifestUrl', 'The submission has this manifest already; each has an address of its own'); // prettier-ignore
    if (manifests.length >= MOST.manifests) throw invalid('manifestUrl', `A submission has ${MOST.manifests} manifests at most`); // prettier-ignore
    if (
      replaces !== undefined &&
      !manifests.some((each) => each.url === replaces && each.job !== undefined && each.replacedBy === undefined)
    ) {
      throw invalid('replacesManifestUrl', 'The submission has no such manifest, or it is replaced already');
    }
    // Before the job, so that no other request takes it in too.
    return {
      ...submission,
      manifests: url === undefined ? manifests : [...manifests.filter((each) => each.url !== url), { url }],
    };
  });
  const replaced = row.submission.manifests.find((each) => each.url === replaces)?.job;
  const id = await start({ ...asked, undoes: replaced === undefined ? [] : [replaced] }, call, services, types);
  const now = await change(asked, call, services, (submission) => ({
    ...submission,
    ...(asked.state === 'completed' && submission.status !== 'stopped' && { status: asked.state }),
    manifests: submission.manifests.map((each) => {
      if (each.url === url) return { ...each, job: id };
      return each.url === replaces && replaced !== undefined ? { ...each, replacedBy: id } : each;
    }),
  }));
  if (now.submission.status === 'stopped') await jobsOf(services).cancel(id);
  else if (replaced !== undefined) await jobsOf(services).cancel(replaced);
  return taken(`The manifest is taken; ${HOW}`);
}

const HOW = '$bulk-submit-status leads to what becomes of it';

/** Says that there will be no more manifests. */
async function complete(asked: Asked, call: Call, services: Services): Promise<Reply> {
  await change(asked, call, services, (submission) => {
    if (submission.status !== asked.state) checkOpen(submission);
    return { ...submission, status: asked.state };
  });
  return taken(`The submission is ${asked.state}; ${HOW}`);
}

/** Ends a submission, and has all of it taken back. */
async function stop(asked: Asked, call: Call, services: Services, types: readonly string[]): Promise<Reply> {
  const { submission } = await change(asked, call, services, (before) => {
    if (before.status !== 'stopped') checkOpen(before);
    return { ...before, status: 'stopped' };
  });
  const jobs = submission.manifests.flatMap(({ job, replacedBy }) =>
    job === undefined || replacedBy !== undefined ? [] : [job],
  );
  if (submission.undoing === undefined) {
    for (const job of jobs) await jobsOf(services).cancel(job);
    const undoing = await start({ ...asked, url: undefined, undoes: jobs }, call, services, types);
    const now = await change(asked, call, services, (before) => ({ ...before, undoing: before.undoing ?? undoing }));
    // Another request was first; to take back twice changes nothing.
    if (now.submission.undoing !== undoing) await jobsOf(services).cancel(undoing);
  }
  return taken(`The submission is stopped, and what came of it is taken back; ${HOW}`);
}

/** @throws FhirError `precondition-failed` for a submission that takes nothing any more */
function checkOpen({ status }: Submission): void {
  if (status === 'in-progress') return;
  throw new FhirError(
    'precondition-failed',
    `The submission is ${status}; begin another one with another submissionId`,
  );
}

/** Changes a submission, which is made where there is none. */
async function change(
  { submitter, submissionId }: Asked,
  { principal }: Call,
  services: Services,
  make: (submission: Submission) => Submission,
): Promise<SubmissionRow> {
  const { store, tables } = services;
  const id = submissionKey(principal, submitter, submissionId);
  for (;;) {
    const row = await readSubmission(store, id);
    if (row !== undefined && standingTo(row.submission, principal, services) !== 'owner') {
      throw scopeMissing(uniteNeeded([neededOn('*', 'cu')]), principal.access);
    }
    const owner = ownerOf(principal, uses(services, principal), tables);
    const fresh: Submission = { id, owner, submissionId, status: 'in-progress', created: Date.now(), manifests: [] };
    const next = await replaceSubmission(store, row, make(row?.submission ?? fresh));
    if (next !== undefined) return next;
  }
}

/** The scopes that a submission keeps: those by which it writes, reads what is referred to, and takes back. */
function uses({ tables }: Pick<Services, 'tables'>, { access }: Call['principal']) {
  const whole = tables.resourceTypes.filter((type) => access.isWhole(type, 'cu'));
  return uniteNeeded([...whole.map((type) => neededOn(type, 'cud')), neededOn('*', 'rs')]);
}

async function start(
  { url, headers, undoes }: Asked & Pick<SubmitInput, 'undoes'>,
  { base, principal }: Call,
  services: Services,
  types: readonly string[],
): Promise<string> {
  const input: SubmitInput = {
    ...{ base, types, undoes },
    ...(url !== undefined && { manifestUrl: url }),
    ...(Object.keys(headers).length > 0 && { headers }),
  };
  const json = input as unknown as JsonObject;
  return (await jobsOf(services).start(SUBMIT, json, principal, uses(services, principal))).id;
}

function invalid(parameter: string, text: string): FhirError {
  return new FhirError('parameter-invalid', text, { parameter });
}

function taken(text: string): Reply {
  return { status: 200, resource: noticeOutcome(text) };
}

/** The names by which a submission is found. */
export function namesIn(found: Arguments): { readonly submitter: JsonObject; readonly submissionId: string } {
  const submitter: JsonValue = valueOf(found, 'submitter') ?? {};
  const { system = '', value = '' } = isObject(submitter) ? submitter : {};
  return { submitter: { system, value }, submissionId: String(valueOf(found, 'submissionId')) };
}
