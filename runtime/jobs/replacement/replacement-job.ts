import type { Call } from '../../core/call.js';
import { STORED_DEPTH } from '../../core/read-stored.js';
import type { Job } from '../../core/jobs.js';
import type { Services } from '../../core/services.js';
import type { Decision } from '../../core/write/commit.js';
import { FhirError } from '../../fhir/errors.js';
import type { JsonObject, Resource } from '../../fhir/resource.js';
import { readJson } from '../../format/read-json.js';
import type { Put, ResourceKey, StoredVersion } from '../../store/store.js';
import type { ChunkContext, ChunkResult } from '../engine/job-kind.js';
import { commitPlan } from './commit-plan.js';
import { findReferrerPage } from '../../core/references/find-referrers.js';
import { planSides } from './plan-merge.js';
import { changeOf, renamed, typesToSearch, updatesAll } from './plan-replacement.js';
import { PROVENANCE, stepRecordId, type Deed, type VersionKey } from './provenance.js';
import { readLive } from './read-live.js';
import { readRecord } from './read-record.js';
import { recordOf, stillThere, versionAfter } from './record-deed.js';
import { referenceWalk } from '../../core/references/reference-walk.js';
import { callOf, type ReplacementInput } from './replacement-input.js';
import { abandonTask, completeTask, createTask } from './replacement-task.js';

/**
 * How far a replacement is. Each step is one transaction with a Provenance whose id follows from the number of the step: a step that
 * was done but not saved here is recognized by it.
 */
interface Checkpoint {
  /** `checking`: whether the token may change all that refers is looked at before anything is changed. */
  readonly phase: 'checking' | 'sides' | 'changing';
  readonly types: readonly string[];
  /** Place in `types`, and where its next page begins. */
  readonly at: number;
  readonly after?: string;
  /** Steps that are done. */
  readonly steps: number;
  /** Resources that were changed, and those of this pass: what is written meanwhile may refer to the source again. */
  readonly done: number;
  readonly inPass: number;
  readonly pass: number;
  /** The two resources, as the Provenances name them. */
  readonly source?: VersionKey;
  readonly target?: VersionKey;
}

/** Resources of one step while requests are in progress: they wait for the store until all are changed. */
const BUSY_STEP = 10;

/** Passes through all types at most. */
const MOST_PASSES = 5;

/** Does one chunk of a replacement: a page of the resources that refer. */
export async function replacementChunk(context: ChunkContext): Promise<ChunkResult> {
  const { job, services } = context;
  const input = job.input as unknown as ReplacementInput;
  const work = new Replacement(input, callOf(input, context), context);
  const at = job.checkpoint as unknown as Checkpoint | undefined;
  if (at === undefined) return toResult(await work.begin());
  if (at.phase === 'sides') return toResult(await work.sides(at));
  const type = at.types[at.at];
  if (type !== undefined)
    return toResult(await (at.phase === 'checking' ? work.check(type, at) : work.change(type, at)));
  if (at.phase === 'checking') return toResult({ ...at, phase: 'sides', at: 0 });
  if (at.inPass > 0 && at.pass < MOST_PASSES) return toResult({ ...at, at: 0, inPass: 0, pass: at.pass + 1 });
  await completeTask(job, input, at.steps, services);
  return { ...toResult(at), result: { changed: at.done } };
}

/** Notes in the Task that a job failed or was cancelled; what it changed stays, and can be undone. */
export async function discardReplacement(job: Job, services: Services): Promise<void> {
  await abandonTask(job, job.input as unknown as ReplacementInput, services);
}

class Replacement {
  private readonly walk;
  private readonly renaming;

  constructor(
    private readonly input: ReplacementInput,
    private readonly call: Call,
    private readonly context: ChunkContext,
  ) {
    this.walk = referenceWalk(context.services.tables);
    this.renaming = { from: input.source, to: input.target, own: context.services.own };
  }

  async begin(): Promise<Checkpoint> {
    const { call, renaming, walk, input } = this;
    const { services, signal, job } = this.context;
    await createTask(job, input, services);
    const types = await typesToSearch(renaming, walk, call, services, signal);
    const phase = updatesAll(types, call) ? 'sides' : 'checking';
    return { phase, types, at: 0, steps: 0, done: 0, inPass: 0, pass: 1 };
  }

  /** @throws FhirError `scope-missing` where the token may not change what refers */
  async check(type: string, at: Checkpoint): Promise<Checkpoint> {
    const { versions, next } = await this.page(type, at);
    for (const version of versions) {
      await this.context.breathe();
      await this.changeFor(version);
    }
    return advance(at, next);
  }

  /** Of a merge the two resources themselves are changed first: from then on neither can be merged again. */
  async sides(at: Checkpoint): Promise<Checkpoint> {
    const { input, call } = this;
    const { services, job } = this.context;
    const { source, target } = input;
    const next: Checkpoint = { ...at, phase: 'changing' };
    if (input.activity === 'link') {
      const [from, to] = [await readLive(source, call, services), await readLive(target, call, services)];
      return { ...next, source: keyOf(from), target: keyOf(to) };
    }
    const recorded = await this.recordedStep(0);
    if (recorded !== undefined) return { ...next, source: recorded.source, target: recorded.target, steps: 1, done: 2 };
    const result = input.result === undefined ? undefined : (readJson(input.result, STORED_DEPTH) as Resource);
    const plan = async (): Promise<Decision<Deed>> => {
      const sides = await planSides({ source, target, result }, call, services);
      const deed: Deed = {
        ...{ activity: 'merge', changed: [] },
        source: versionAfter(sides.source),
        target: versionAfter(sides.target),
      };
      const record = await recordOf(deed, job.created, call, services, { task: input.task, step: 0 });
      return { changes: [sides.target, sides.source, record], result: deed };
    };
    const { result: deed } = await commitPlan(plan, [source, target], call, services);
    return { ...next, source: deed.source, target: deed.target, steps: 1, done: 2 };
  }

  async change(type: string, at: Checkpoint): Promise<Checkpoint> {
    const { versions, next } = await this.page(type, at);
    let now = at;
    for (const keys of this.portions(versions)) {
      now = await this.step(keys, now);
      await this.context.breathe();
    }
    return advance(now, next);
  }

  private page(type: string, { after }: Checkpoint) {
    const { services, signal } = this.context;
    return findReferrerPage(type, this.input.source, after, services, signal);
  }

  /** Parts of a page that are not too large for one transaction, nor for requests that wait for it. */
  private *portions(versions: readonly StoredVersion[]): Generator<readonly ResourceKey[]> {
    const { isBusy, services } = this.context;
    const { body } = services.limits;
    let keys: ResourceKey[] = [];
    let size = 0;
    for (const { type, id, json = '' } of versions) {
      const isFull = size + json.length > body || (isBusy() && keys.length >= BUSY_STEP);
      if (keys.length > 0 && isFull) {
        yield keys;
        [keys, size] = [[], 0];
      }
      keys.push({ type, id });
      size += json.length;
    }
    if (keys.length > 0) yield keys;
  }

  /** Changes some resources in one transaction, each as it is by then. */
  private async step(keys: readonly ResourceKey[], at: Checkpoint): Promise<Checkpoint> {
    const { input, call } = this;
    const { services, job } = this.context;
    const { source, target } = at;
    if (source === undefined || target === undefined) throw new Error('a step before the two resources are known');
    for (let { steps, done, inPass } = at; ; steps++) {
      const plan = async (): Promise<Decision<number>> => {
        const recorded = await this.recordedStep(steps);
        if (recorded !== undefined) return { changes: [], result: recorded.changed.length };
        const changes: Put[] = [];
        for (const version of await services.store.readMany(keys)) {
          await this.context.breathe();
          const put = version && (await this.changeFor(version));
          if (put !== undefined) changes.push(put);
        }
        if (changes.length === 0) return { changes, result: 0 };
        const deed: Deed = { activity: input.activity, source, target, changed: changes.map(versionAfter) };
        const record = await recordOf(deed, job.created, call, services, { task: input.task, step: steps });
        return { changes: [...changes, record], preconditions: [stillThere(target)], result: changes.length };
      };
      const { result, written } = await commitPlan(plan, [], call, services);
      done += result;
      inPass += result;
      // Where the step was done before, these resources may be those of the next one.
      if (result === 0 || written.length > 0) return { ...at, steps: result === 0 ? steps : steps + 1, done, inPass };
    }
  }

  /**
   * What a step changed that is done already; undefined: it is not.
   *
   * @throws FhirError `version-conflict` where a client has taken the id of its record
   */
  private async recordedStep(step: number): Promise<Deed | undefined> {
    const { services } = this.context;
    const id = stepRecordId(this.input.task, step);
    const record = await readRecord(id, services);
    if (record !== undefined || (await services.store.read(PROVENANCE, id)) === undefined) return record;
    throw new FhirError('version-conflict', `${PROVENANCE}/${id}, which would record a step, was written by a client`);
  }

  private async changeFor(version: StoredVersion): Promise<Put | undefined> {
    const { services } = this.context;
    const content = await renamed(version, this.renaming, this.walk, services);
    try {
      return content && (await changeOf(version, content, this.call, services));
    } catch (error) {
      if (!(error instanceof FhirError) || error.code !== 'scope-missing') throw error;
      // The Task is seen by others too: scopes of the client are not for them.
      throw new FhirError('scope-missing', 'A resource that refers lies outside of what the token may change');
    }
  }
}

function keyOf({ type, id, version }: StoredVersion): VersionKey {
  return { type, id, version };
}

function advance({ after: _after, ...at }: Checkpoint, next: string | undefined): Checkpoint {
  return next === undefined ? { ...at, at: at.at + 1 } : { ...at, after: next };
}

function toResult(at: Checkpoint): ChunkResult {
  return { checkpoint: at as unknown as JsonObject, progress: { done: at.done, unit: 'resources' } };
}
