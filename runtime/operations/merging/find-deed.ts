import { describeStaleIndex, staleParameters } from '../../core/definitions/index-status.js';
import { readStored } from '../../core/read-stored.js';
import { findAll } from '../../core/search/execute/find-all.js';
import type { Services } from '../../core/services.js';
import { liveVersion } from '../../core/write/preconditions.js';
import { FhirError } from '../../fhir/errors.js';
import type { Resource } from '../../fhir/resource.js';
import { readSteps } from '../../jobs/replacement/replacement-task.js';
import type { Condition } from '../../search/query/query.js';
import type { ResourceKey } from '../../store/store.js';
import {
  LIFECYCLE,
  PROVENANCE,
  readDeed,
  stepRecordId,
  TASK,
  taskOf,
  type Activity,
  type Deed,
  type VersionKey,
} from '../../jobs/replacement/provenance.js';
import type { Pair } from './read-pair.js';

/** What was done to two resources, and the Provenance that records it. */
export interface RecordedDeed extends Deed {
  /** Id of the Provenance. */
  readonly record: string;
}

/** The search parameters of Provenance that it is found by. */
const TARGET = 'target';
const ACTIVITY = 'activity';

/**
 * The last replacement or merge of two resources that is on record.
 *
 * @throws FhirError `not-found`, `index-not-current`
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
  const sort = [{ param: '_lastUpdated', by: 'updated', isDescending: true }] as const;
  const query = { type: PROVENANCE, where, sort, count: 20, total: 'none' } as const;
  const { store } = services;
  for await (const { id, json } of findAll(query, (...asked) => store.find(...asked), signal)) {
    const resource = json === undefined ? undefined : await readStored(json, services);
    const deed = resource && readDeed(resource);
    if (deed === undefined || deed.activity !== activity) continue;
    if (!isSame(deed.source, source) || !isSame(deed.target, target)) continue;
    const task = taskOf(resource!);
    return { ...deed, record: id, ...(task !== undefined && { changed: await changedBySteps(task, services) }) };
  }
  throw noDeed(activity, { source, target });
}

/**
 * What all steps of a job changed.
 *
 * @throws FhirError `version-conflict` where the job is at work still, or the record of a step is not there any more
 */
async function changedBySteps(task: string, services: Services): Promise<readonly VersionKey[]> {
  const read = async (type: string, id: string): Promise<Resource> => {
    const live = liveVersion(await services.store.read(type, id));
    if (live !== undefined) return readStored(live.json, services);
    const text = `${type}/${id} is not there any more, so that it is not known what was changed; nothing was restored`;
    throw new FhirError('version-conflict', text);
  };
  const { status, steps } = readSteps(await read(TASK, task));
  if (status === 'in-progress') {
    throw new FhirError('version-conflict', `The job of ${TASK}/${task} has not ended; nothing was restored`);
  }
  const changed: VersionKey[] = [];
  for (let step = 0; step < steps; step++) {
    const deed = readDeed(await read(PROVENANCE, stepRecordId(task, step)));
    changed.push(...(deed?.changed ?? []));
  }
  return changed;
}

/** That nothing is on record. */
export function noDeed(activity: Activity, { source, target }: Pair): FhirError {
  const what = activity === 'link' ? 'replacement of references' : 'merge';
  const text = `No ${what} from ${source.type}/${source.id} to ${target.type}/${target.id} is on record`;
  return new FhirError('not-found', text);
}

function isSame(a: ResourceKey, b: ResourceKey): boolean {
  return a.type === b.type && a.id === b.id;
}
