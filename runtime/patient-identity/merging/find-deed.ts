import { append } from '../../fhir/lists.js';
import { describeStaleIndex, staleParameters } from '../../core/definitions/index-status.js';
import { readStored } from '../../core/read-stored.js';
import { findAll } from '../../core/search-services/find-all.js';
import type { Services } from '../../core/services.js';
import { liveVersion } from '../../core/write/preconditions.js';
import { FhirError } from '../../fhir/errors.js';
import { isAtWork } from '../../jobs/replacement/replacement-input.js';
import { readRecord, type RecordedDeed } from '../../jobs/replacement/read-record.js';
import { readSteps } from '../../jobs/replacement/replacement-task.js';
import type { Condition } from '../../search/query/query.js';
import type { ResourceKey } from '../../store/store.js';
import {
  LIFECYCLE,
  PROVENANCE,
  stepRecordId,
  TASK,
  type Activity,
  type VersionKey,
} from '../../jobs/replacement/provenance.js';
import type { Pair } from './read-pair.js';

/** The search parameters of Provenance that it is found by. */
const TARGET = 'target';
const ACTIVITY = 'activity';

/**
 * The last replacement or merge of two resources that the server recorded. Provenances that clients wrote do not count.
 *
 * @throws FhirError `not-found`, `version-conflict` where its job is at work still, or the record of a step is not there any more,
 * `index-not-current`
 */
export async function findDeed(
  activity: Activity,
  { source, target }: Pair,
  services: Services,
  signal: AbortSignal | undefined,
): Promise<RecordedDeed> {
  const used = [TARGET, ACTIVITY].map((code) => ({ type: PROVENANCE, code }));
  const old = describeStaleIndex(await staleParameters({ used }, services));
  if (old !== undefined) throw new FhirError('index-not-current', old);
  const names = ({ type, id }: ResourceKey): Condition => ({
    param: TARGET,
    any: [{ is: 'reference', types: [type], id }],
  });
  const where: Condition = {
    all: [names(target), names(source), { param: ACTIVITY, any: [{ is: 'token', system: LIFECYCLE, code: activity }] }],
  };
  const query = { type: PROVENANCE, where, sort: [], count: 20, total: 'none' } as const;
  const { store } = services;
  let last: RecordedDeed | undefined;
  for await (const { id } of findAll(query, (...asked) => store.find(...asked), signal)) {
    const deed = await readRecord(id, services);
    if (deed?.activity !== activity || !isSame(deed.source, source) || !isSame(deed.target, target)) continue;
    // By the time of the record itself: a client may have updated an earlier one since.
    if (last === undefined || deed.recorded > last.recorded) last = deed;
  }
  if (last === undefined) throw noDeed(activity, { source, target });
  return last.task === undefined ? last : { ...last, changed: await changedBySteps(last.task, services) };
}

/** What all steps of a job changed. */
async function changedBySteps(task: string, services: Services): Promise<readonly VersionKey[]> {
  const { store } = services;
  const gone = (name: string): FhirError => {
    const text = `${name} is not there any more, so that it is not known what was changed; nothing was restored`;
    return new FhirError('version-conflict', text);
  };
  const live = liveVersion(await store.read(TASK, task));
  if (live === undefined) throw gone(`${TASK}/${task}`);
  const { status, steps } = readSteps(await readStored(live.json, services));
  // A client may have changed the status, but not the job.
  if (status === 'in-progress' || (await isAtWork(task, services))) {
    throw new FhirError('version-conflict', `The job of ${TASK}/${task} has not ended; nothing was restored`);
  }
  const changed: VersionKey[] = [];
  // Records tell how many steps there were: a client may have removed some from the Task.
  for (let step = 0; ; step++) {
    const id = stepRecordId(task, step);
    const deed = await readRecord(id, services);
    if (deed === undefined && step >= steps) return changed;
    if (deed === undefined || liveVersion(await store.read(PROVENANCE, id)) === undefined) {
      throw gone(`${PROVENANCE}/${id}`);
    }
    append(changed, deed.changed);
  }
}

/** That nothing is on record. */
export function noDeed(activity: Activity, { source, target }: Pair): FhirError {
  const what = activity === 'link' ? 'replacement of references' : 'merge';
  const text = `No ${what} from ${source.type}/${source.id} to ${target.type}/${target.id} is on record`;
  return new FhirError('not-found', text);
}

/** Whether two keys name one resource. */
export function isSame(a: ResourceKey, b: ResourceKey): boolean {
  return a.type === b.type && a.id === b.id;
}
