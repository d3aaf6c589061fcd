import { NONE_NEEDED } from '../auth/access/needed-scopes.js';
import { SERVER } from '../auth/scopes/principal.js';
import type { Definitions, LiveSet } from '../core/definitions/definitions.js';
import type { Jobs } from '../core/jobs.js';
import type { JsonObject } from '../fhir/resource.js';
import type { JobEngine } from '../jobs/engine/engine.js';
import { REINDEX, type ReindexInput } from '../jobs/reindex/reindex-job.js';
import type { Log } from '../observe/log.js';
import { repeat } from '../observe/repeat.js';
import { SYSTEM_MAPS } from '../store/system-maps.js';
import type { Store } from '../store/store.js';

/** Between two looks whether search parameters changed, in milliseconds. */
const PAUSE = 1000;

/** Resources of one step of the job. */
const BATCH = 500;

/** Key of the definitions that a job was last started for. */
const STARTED = 'started';

/** Parts that reindexing after a change of search parameters works with. */
export interface ReindexOnChange {
  readonly definitions: Pick<Definitions, 'current'>;
  readonly store: Pick<Store, 'maps' | 'counts'>;
  readonly jobs: Pick<JobEngine, 'start' | 'look'>;
  readonly resourceTypes: readonly string[];
  readonly log: Log;
}

/** Parts that a reindexing job is started with. */
export interface StartParts extends Pick<ReindexOnChange, 'store' | 'resourceTypes'> {
  readonly jobs: Pick<Jobs, 'start'>;
  readonly log: Pick<Log, 'info'>;
}

/**
 * Starts a reindexing whenever other search parameters come into effect than those of the start. Of several processes one does.
 *
 * @returns ends it
 */
export function reindexOnChange(parts: ReindexOnChange): () => void {
  let seen = parts.definitions.current();
  const look = async (): Promise<void> => {
    const now = parts.definitions.current();
    if (now === seen) return;
    // One that another process has started is taken up without waiting for the next look.
    if ((await startFor(now, parts)) === undefined) await parts.jobs.look();
    seen = now;
  };
  return repeat(look, { first: PAUSE, pause: PAUSE }, (error) => parts.log.defect('none', error));
}

/**
 * Starts the job for definitions, unless a process has started it.
 *
 * @returns id of the job; undefined: there is nothing to do, or another process does it
 */
export async function startFor(
  { maker, indexStatus }: Pick<LiveSet, 'maker' | 'indexStatus'>,
  { store, jobs, resourceTypes, log }: StartParts,
): Promise<string | undefined> {
  const stale = await indexStatus.notCurrent('now');
  if (stale.length === 0) return undefined;
  const before = await store.maps.get(SYSTEM_MAPS.reindexJob, STARTED);
  if (before === maker.whole || !(await store.maps.swap(SYSTEM_MAPS.reindexJob, STARTED, before, maker.whole))) {
    return undefined;
  }
  const owners = new Set(stale.map((name) => name.slice(0, name.indexOf('.'))));
  const stored = [...(await store.counts()).keys()].sort();
  // Parameters of no resource type are inherited by all.
  const isOfAll = [...owners].some((owner) => !resourceTypes.includes(owner));
  const types = stored.filter((type) => isOfAll || owners.has(type));
  const input: ReindexInput = {
    parts: types.map((type) => ({ type })),
    isWhole: true,
    makesEntries: true,
    batchSize: BATCH,
  };
  const { id } = await jobs.start(REINDEX, input as unknown as JsonObject, SERVER, NONE_NEEDED);
  log.info(`search parameters changed: job ${id} indexes ${types.join(', ') || 'nothing, for nothing is stored'}`);
  return id;
}
