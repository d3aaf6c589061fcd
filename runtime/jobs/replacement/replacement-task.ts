import type { Job } from '../../core/jobs.js';
import { readStored } from '../../core/read-stored.js';
import type { Services } from '../../core/services.js';
import { commit } from '../../core/write/commit.js';
import { composePut } from '../../core/write/compose-change.js';
import { liveVersion } from '../../core/write/preconditions.js';
import { equalJson } from '../../fhir/equal.js';
import { formatInstant } from '../../fhir/instant.js';
import { isObject, type JsonObject, type JsonValue, type Resource } from '../../fhir/resource.js';
import { PROVENANCE, referenceOf, madeBy, stepRecordId, TASK } from './provenance.js';
import { readRecord } from './read-record.js';
import type { ReplacementInput } from './replacement-input.js';

/** System of the ids of jobs. */
const JOB_SYSTEM = 'urn:kiln:job';

/** https://hl7.org/fhir/R5/valueset-resource-types.html */
const TYPES = 'http://hl7.org/fhir/fhir-types';

/** Changes that a Task lists at most: more would make it too large. Beyond them only the Provenances list them. */
const MOST_LISTED = 10_000;

/** The Task of a job that has not ended. */
function openTask({ id, created, owner }: Job, { activity, task, source, target }: ReplacementInput): Resource {
  const [from, to] = [source, target].map((key) => `${key.type}/${key.id}`);
  const description = activity === 'merge' ? `Merge of ${from} into ${to}` : `References to ${from} lead to ${to}`;
  return {
    resourceType: TASK,
    id: task,
    identifier: [{ system: JOB_SYSTEM, value: id }],
    status: 'in-progress',
    intent: 'order',
    description,
    authoredOn: formatInstant(created),
    // Neither of the two is referred to: that reference would be replaced like any other.
    ...(owner.clientId !== '' && { requester: { identifier: { value: owner.clientId } } }),
  };
}

/** Creates the Task of a job, unless it is there. */
export async function createTask(job: Job, input: ReplacementInput, services: Services): Promise<Resource> {
  const content = openTask(job, input);
  await writeTask(input, services, (current) => (current === undefined ? content : undefined));
  return content;
}

/** Notes in the Task that the job has done its work, and what it changed. */
export async function completeTask(
  job: Job,
  input: ReplacementInput,
  steps: number,
  services: Services,
): Promise<void> {
  const listing = await listSteps(input, steps, services);
  await closeTask(job, input, services, { status: 'completed', ...listing });
}

/** Notes in the Task that the job failed or was cancelled, and what it changed until then. */
export async function abandonTask(job: Job, input: ReplacementInput, services: Services): Promise<void> {
  if (job.state !== 'failed' && job.state !== 'cancelled') return;
  const statusReason = { concept: { text: job.failure ?? 'The job was cancelled' } };
  await closeTask(job, input, services, { status: job.state, statusReason, ...(await listSteps(input, 0, services)) });
}

/** Reads the status of a job's Task, and counts the steps that it records. */
export function readSteps(task: Resource): { readonly status: unknown; readonly steps: number } {
  const output = Array.isArray(task['output']) ? task['output'] : [];
  const isRecord = (each: JsonValue): boolean =>
    isObject(each) &&
    isObject(each['valueReference']) &&
    String(each['valueReference']['reference']).startsWith(`${PROVENANCE}/`);
  return { status: task['status'], steps: output.filter(isRecord).length };
}

async function closeTask(job: Job, input: ReplacementInput, services: Services, more: JsonObject): Promise<void> {
  await writeTask(input, services, (current) => {
    const before = current ?? openTask(job, input);
    // Another process may have ended one more step than was known when the job was cancelled.
    const isOpen = before['status'] === 'in-progress' || before['status'] === 'cancelled';
    if (!isOpen || equalJson(before['output'] ?? [], more['output'] ?? null)) return undefined;
    return { ...before, ...more, lastModified: formatInstant(Date.now()) } as Resource;
  });
}

/** @param change undefined: there is nothing to write */
async function writeTask(
  { task }: ReplacementInput,
  services: Services,
  change: (current: Resource | undefined) => Resource | undefined,
): Promise<void> {
  const { store, limits } = services;
  const decide = async () => {
    const stored = await store.read(TASK, task);
    const live = liveVersion(stored);
    // A client deleted it: then it is not wanted.
    if (stored !== undefined && live === undefined) return { changes: [], result: undefined };
    const next = change(live && (await readStored(live.json, services)));
    const put = next && (await composePut(next, task, stored, services));
    return { changes: put === undefined ? [] : [put], result: undefined };
  };
  await commit(store, [`${TASK}/${task}`], decide, { answerTime: limits.answerTime });
}

/**
 * What the steps changed: a Bundle for each, as a transaction answers, and the Provenance.
 *
 * @param steps that are known; those after them are found by their Provenances
 */
async function listSteps({ task }: ReplacementInput, steps: number, services: Services): Promise<JsonObject> {
  const contained: JsonObject[] = [];
  const output: JsonObject[] = [];
  let listed = 0;
  for (let step = 0; ; step++) {
    const id = stepRecordId(task, step);
    const deed = await readRecord(id, services);
    if (deed === undefined && step >= steps) break;
    const made = deed === undefined ? [] : step === 0 ? madeBy(deed) : deed.changed;
    listed += made.length;
    if (made.length > 0 && listed <= MOST_LISTED) {
      const entry = made.map((key) => ({
        response: { status: '200 OK', location: referenceOf(key), etag: `W/"${key.version}"` },
      }));
      contained.push({ resourceType: 'Bundle', id: `step-${step}`, type: 'transaction-response', entry });
      output.push(outputOf('Bundle', `#step-${step}`));
    }
    output.push(outputOf(PROVENANCE, `${PROVENANCE}/${id}`));
  }
  return { ...(contained.length > 0 && { contained }), ...(output.length > 0 && { output }) };
}

function outputOf(code: string, reference: string): JsonObject {
  return { type: { coding: [{ system: TYPES, code }] }, valueReference: { reference } };
}
