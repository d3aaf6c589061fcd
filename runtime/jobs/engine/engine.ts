import { least } from '../../fhir/lists.js';
import type { NeededScopes } from '../../auth/access/needed-scopes.js';
import { ownerOf } from '../../auth/access/owner.js';
import { SERVER, type Principal } from '../../auth/scopes/principal.js';
import { ENDED, JOBS_PER_CLIENT, type Job, type Jobs, type JobsPerClient } from '../../core/jobs.js';
import type { Services } from '../../core/services.js';
import { FhirError } from '../../fhir/errors.js';
import type { Store } from '../../store/store.js';
import { SYSTEM_CLOCK, type Clock } from './clock.js';
import { endedJob, type JobKind } from './job-kind.js';
import { openJobRows, type JobRow, type JobRows } from './job-rows.js';
import { MAX_FAILURES, runJob, TIMES, type RunningJob, type Stop } from './run-job.js';

/** Options of a job engine. */
export interface JobEngineOptions {
  readonly store: Pick<Store, 'maps'>;
  readonly kinds: readonly JobKind[];
  /** Jobs that change resources wait for another process. */
  readonly isReadOnly?: boolean;
  /** Those of the moment. */
  readonly services: () => Services;
  /**
   * On whose behalf a job goes on; asked before each chunk.
   *
   * @throws FhirError where it ends, because its client may not any more what it was started with
   */
  readonly principalOf: (owner: Job['owner']) => Promise<Principal>;
  /** Names this process; no other has the same. */
  readonly holder: string;
  /** Ids of new jobs. */
  readonly newId: (now: number) => string;
  /** Jobs that this process works on at a time; absent: 3. */
  readonly atOnce?: number;
  /** Absent: `JOBS_PER_CLIENT`. */
  readonly perClient?: JobsPerClient;
  /** Absent: the machine's. */
  readonly clock?: Clock;
  /** Whether requests are in progress, which jobs make room for; absent: never. */
  readonly isBusy?: () => boolean;
  /** Whether the process of this name is known to be dead, so that its jobs need not wait for the end of its lease. */
  readonly isGone?: (holder: string) => boolean;
  /** Called when a job starts or ends in this process, or leaves it. */
  readonly onEvent?: (event: JobEvent, job: Job) => void;
  /** Called with what a chunk failed with, and with what the engine itself failed with: it goes on. */
  readonly onError?: (error: unknown, job?: Job) => void;
}

/** Event of a job in this process. */
export type JobEvent = 'started' | 'resumed' | 'completed' | 'failed' | 'cancelled' | 'left';

/** The jobs of a store, and the work on them in this process. */
export interface JobEngine extends Jobs {
  /** Takes up waiting jobs and looks for more from time to time, until the engine is closed. */
  open(): void;
  /** Looks once for jobs that wait, were left by a dead process, or are past their time. */
  look(): Promise<void>;
  /** Resolves when no job runs in this process. */
  idle(): Promise<void>;
  /** Stops the work: running jobs stop at the next chance and are left to other processes, or to this one's next start. */
  close(): Promise<void>;
}

/** Between two looks for jobs of other processes, in milliseconds. */
const LOOK = 5000;

const AT_ONCE = 3;

/** A job that may have ended processes waits so long for the end of others before none is begun beside them, in milliseconds. */
const PATIENCE = 60_000;

/** After which a client that has too many jobs should ask again, in milliseconds: the least. */
const RETRY = 10_000;

/**
 * Opens the jobs of a store. A job is a row in an atomic map; a process holds it by a lease that it renews. Every change of a row
 * names the row before, so that of two processes one wins; the other notices and stops.
 */
export function createJobEngine(options: JobEngineOptions): JobEngine {
  return new Engine(options);
}

class Engine implements JobEngine {
  private readonly rows: JobRows;
  private readonly clock: Clock;
  private readonly kinds: ReadonlyMap<string, JobKind>;
  private readonly runs = new Map<string, RunningJob>();
  /** Jobs among them that may have ended processes: none is begun beside one of them until a step of it is done. */
  private readonly suspects = new Set<string>();
  private readonly closing = new AbortController();
  private looping: Promise<void> = Promise.resolve();
  private filling: Promise<void> | undefined;
  private adding: Promise<unknown> = Promise.resolve();
  private refill = false;

  constructor(private readonly options: JobEngineOptions) {
    this.rows = openJobRows(options.store);
    this.clock = options.clock ?? SYSTEM_CLOCK;
    this.kinds = new Map(options.kinds.map((kind) => [kind.type, kind]));
  }

  async start(type: string, input: Job['input'], principal: Principal, uses: NeededScopes): Promise<Job> {
    if (!this.kinds.has(type)) throw new Error(`no kind of job ${type}`);
    // One after the other, so that many at once are counted too.
    const added = this.adding.catch(() => {}).then(() => this.add(type, input, principal, uses));
    this.adding = added;
    return added;
  }

  private async add(type: string, input: Job['input'], principal: Principal, uses: NeededScopes): Promise<Job> {
    const owner = ownerOf(principal, uses, this.options.services().tables);
    if (principal !== SERVER) await this.makeRoom(owner);
    const now = this.clock.now();
    const id = this.options.newId(now);
    const progress = { done: 0, unit: 'resources' };
    const { job } = await this.rows.add({
      ...{ id, type, owner, input, state: 'queued', created: now, progress, failures: 0, run: 0 },
    });
    void this.fill();
    return job;
  }

  async read(id: string): Promise<Job | undefined> {
    const row = await this.rows.get(id);
    if (row === undefined || this.isOver(row.job)) return undefined;
    return this.withProgress(row.job);
  }

  async list(): Promise<readonly Job[]> {
    const rows = await this.rows.all();
    return rows.filter(({ job }) => !this.isOver(job)).map(({ job }) => this.withProgress(job));
  }

  async cancel(id: string): Promise<boolean> {
    for (;;) {
      const row = await this.rows.get(id);
      if (row === undefined || ENDED.has(row.job.state)) return false;
      // The lease stays: it tells whether a process may be at work still.
      const ended = endedJob({ ...row.job, state: 'cancelled' }, this.kinds.get(row.job.type) ?? {}, this.clock.now());
      const next = await this.rows.replace(row, ended);
      if (next === undefined) continue;
      const run = this.runs.get(id);
      run?.stop('cancelled');
      if (run === undefined) {
        await this.discard(next.job);
        // A process that works on it removes what it makes meanwhile.
        if (!this.isHeld(next.job)) await this.settle(next);
      }
      await run?.ended;
      return true;
    }
  }

  async remove(id: string): Promise<void> {
    const row = await this.rows.get(id);
    if (row === undefined || !ENDED.has(row.job.state)) return;
    await this.discard(row.job);
    if (!this.isHeld(row.job)) await this.rows.remove(id);
  }

  open(): void {
    const { signal } = this.closing;
    this.looping = (async () => {
      while (!signal.aborted) {
        await this.look().catch((error: unknown) => this.options.onError?.(error));
        await this.clock.sleep(LOOK, signal).catch(() => {});
      }
    })();
  }

  async look(): Promise<void> {
    for (const row of await this.rows.all()) {
      const { job } = row;
      const kind = this.kinds.get(job.type);
      if (this.runs.has(job.id) || kind === undefined) continue;
      if (kind.writes === true && this.options.isReadOnly === true) continue;
      if (this.isOver(job)) {
        await this.discard(job);
        await this.rows.remove(job.id);
      } else if (job.state === 'cancelled' && job.isDiscarded === undefined && !this.isHeld(job)) {
        await this.discard(job);
        await this.settle(row);
      }
    }
    await this.fill();
  }

  async idle(): Promise<void> {
    await this.filling;
    while (this.runs.size > 0) {
      await Promise.all([...this.runs.values()].map(({ ended }) => ended));
      await this.filling;
    }
  }

  async close(): Promise<void> {
    this.closing.abort(new Error('the process ends'));
    for (const run of this.runs.values()) run.stop('stopped');
    await this.idle();
    await this.looping;
  }

  /** Takes up waiting jobs, the oldest first, as long as there are places. Calls while it works make it look again. */
  private fill(): Promise<void> {
    this.refill = true;
    this.filling ??= (async () => {
      try {
        while (this.refill && !this.closing.signal.aborted) {
          this.refill = false;
          await this.takeWaiting();
        }
      } catch (error) {
        this.options.onError?.(error);
      } finally {
        this.filling = undefined;
      }
    })();
    return this.filling;
  }

  private async takeWaiting(): Promise<void> {
    const { atOnce = AT_ONCE } = this.options;
    if (this.runs.size >= 2 * atOnce) return;
    for (const row of await this.rows.all()) {
      if (this.closing.signal.aborted || this.isSuspectAtWork()) return;
      const { job } = row;
      if (ENDED.has(job.state) || this.runs.has(job.id) || this.isHeld(job)) continue;
      const kind = this.kinds.get(job.type);
      if (kind === undefined || !this.hasPlace(kind, atOnce)) continue;
      if (mayEndProcesses(job) && this.runs.size > 0) {
        if (job.lease.until + PATIENCE < this.clock.now()) return;
      } else await this.take(row, kind);
    }
  }

  private isSuspectAtWork(): boolean {
    for (const id of this.suspects) if ((this.runs.get(id)?.now().failures ?? 0) === 0) this.suspects.delete(id);
    return this.suspects.size > 0;
  }

  /** Whether a job of a kind may begin: those with places of their own and the others do not keep each other waiting. */
  private hasPlace({ hasOwnPlaces, writes }: JobKind, atOnce: number): boolean {
    if (writes === true && this.options.isReadOnly === true) return false;
    const running = [...this.runs.values()].map((run) => this.kinds.get(run.now().type));
    return running.filter((kind) => kind?.hasOwnPlaces === hasOwnPlaces).length < atOnce;
  }

  private async take(row: JobRow, kind: JobKind): Promise<void> {
    const { job } = row;
    const now = this.clock.now();
    // A lease that was not given back is of a process that died in the middle of a chunk.
    const failures = job.lease === undefined ? job.failures : job.failures + 1;
    if (failures >= MAX_FAILURES) {
      const { lease: _lease, ...rest } = job;
      const failure = `The processes that worked on it ended ${failures} times at the same step`;
      const failed = endedJob({ ...rest, failures, state: 'failed', failure }, kind, now);
      if ((await this.rows.replace(row, failed)) === undefined) return;
      this.report('failed', failed);
      await this.discard(failed);
      return;
    }
    const held = await this.rows.replace(row, {
      ...job,
      failures,
      state: job.state === 'queued' ? 'in-progress' : job.state,
      started: job.started ?? now,
      run: job.run + 1,
      lease: { holder: this.options.holder, until: now + TIMES.lease },
    });
    if (held === undefined) return;
    this.report(job.run === 0 ? 'started' : 'resumed', held.job);
    if (mayEndProcesses(job)) this.suspects.add(job.id);
    const run = runJob(held, kind, {
      rows: this.rows,
      clock: this.clock,
      holder: this.options.holder,
      services: this.options.services,
      principalOf: this.options.principalOf,
      isBusy: this.options.isBusy ?? (() => false),
      jobs: () => this.runs.size,
      onFailure: (failing, error) => this.options.onError?.(error, failing),
    });
    const ended = run.ended.then(async (end) => {
      await this.finish(end.job, end.stop).catch((error: unknown) => this.options.onError?.(error, end.job));
      this.runs.delete(job.id);
      void this.fill();
      return end;
    });
    this.runs.set(job.id, { ...run, ended });
  }

  private async finish(job: Job, stop: Stop | undefined): Promise<void> {
    if (stop === 'stopped' || stop === 'lost') return this.report('left', job);
    if (stop === 'cancelled') {
      this.report('cancelled', job);
      await this.discard(job);
      const row = await this.rows.get(job.id);
      // How far it came is known here alone.
      if (row?.job.state === 'cancelled') await this.settle(row, job.progress);
      return;
    }
    this.report(job.state === 'failed' ? 'failed' : 'completed', job);
    if (job.state === 'failed') await this.discard(job);
  }

  private async discard(job: Job): Promise<void> {
    await this.kinds.get(job.type)?.discard?.(job, this.options.services());
  }

  /** Notes that nothing is left of a cancelled job. */
  private async settle(row: JobRow, progress = row.job.progress): Promise<void> {
    const { lease: _lease, ...job } = row.job;
    await this.rows.replace(row, { ...job, progress, isDiscarded: true });
  }

  /**
   * Sees to it that a client may have one more job. Of those without files the oldest gives way.
   *
   * @throws FhirError `too-many-jobs`
   */
  private async makeRoom({ clientId }: Job['owner']): Promise<void> {
    const { running, kept } = this.options.perClient ?? JOBS_PER_CLIENT;
    const own = (await this.rows.all()).map(({ job }) => job).filter(({ owner }) => owner.clientId === clientId);
    const ended = own.filter((job) => ENDED.has(job.state) && !this.isOver(job) && job.isDiscarded === undefined);
    if (own.filter(({ state }) => !ENDED.has(state)).length >= running) {
      throw tooMany(`${running} jobs of the client have not ended`, RETRY);
    }
    if (ended.length < kept) return;
    const first = ended.find(({ type }) => this.kinds.get(type)?.givesWay === true);
    if (first !== undefined) return this.remove(first.id);
    const times = ended.map((job) => (job.ended ?? 0) + (this.kinds.get(job.type)?.retention ?? 0));
    const pause = least(times) - this.clock.now();
    throw tooMany(`The results of ${kept} jobs of the client are kept; remove some with DELETE`, pause);
  }

  /** Whether a process may be at work on it. */
  private isHeld({ lease }: Job): boolean {
    if (lease === undefined) return false;
    if (this.options.isGone?.(lease.holder) === true) return false;
    return lease.until > this.clock.now();
  }

  /** Whether its retention time is over. */
  private isOver({ ended, type, lease }: Job): boolean {
    const kind = this.kinds.get(type);
    if (ended === undefined || kind === undefined) return false;
    return ended + kind.retention <= this.clock.now() && (lease === undefined || lease.until <= this.clock.now());
  }

  private withProgress(job: Job): Job {
    const run = this.runs.get(job.id);
    return run === undefined || ENDED.has(job.state) ? job : { ...job, progress: run.now().progress };
  }

  private report(event: JobEvent, job: Job): void {
    this.options.onEvent?.(event, job);
  }
}

/** Whether processes ended twice in a row while they worked on a job: perhaps because of it, perhaps because of one beside it. */
function mayEndProcesses(job: Job): job is Job & Required<Pick<Job, 'lease'>> {
  return job.lease !== undefined && job.failures > 0;
}

/** @param pause after which there may be room, in milliseconds */
function tooMany(text: string, pause: number): FhirError {
  const seconds = Math.ceil(Math.max(RETRY, pause) / 1000);
  return new FhirError('too-many-jobs', text, { headers: { 'Retry-After': String(seconds) } });
}
