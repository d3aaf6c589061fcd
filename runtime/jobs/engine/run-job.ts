import type { Principal } from '../../auth/scopes/principal.js';
import { ENDED, type Job, type JobProgress } from '../../core/jobs.js';
import type { Services } from '../../core/services.js';
import { span } from '../../observe/trace/spans.js';
import { FhirError } from '../../fhir/errors.js';
import type { Clock } from './clock.js';
import { createBreath, type Surroundings } from './breathe.js';
import { jobFaults, type JobSchemas } from './check-job.js';
import { endedJob, type ChunkContext, type JobKind } from './job-kind.js';
import type { JobRow, JobRows } from './job-rows.js';
import { createStepSize, type StepSize } from './step-size.js';

/** Times of the engine, in milliseconds. */
export const TIMES = {
  /** How long a process may work on a job without a sign of life. More than clocks of processes may differ, and a stall take. */
  lease: 20_000,
  /** Between two signs of life; the first one comes earlier, so that others see early how far the job is. */
  beat: 5000,
  firstBeat: 1000,
  /** Pause after the first failure of a chunk; it doubles with each further one. */
  retry: 1000,
  maxRetry: 60_000,
} as const;

/** So often in a row a chunk may fail, deaths of its process included. */
export const MAX_FAILURES = 6;

/** Why a run ends before its job does. */
export type Stop =
  /** The process ends. */
  | 'stopped'
  | 'cancelled'
  /** Another process has the job. */
  | 'lost';

/** Parts of the engine that a run works with. */
export interface RunParts extends Surroundings {
  readonly rows: JobRows;
  readonly clock: Clock;
  readonly holder: string;
  readonly services: () => Services;
  readonly principalOf: (owner: Job['owner']) => Promise<Principal>;
  /** Called with each failure of a chunk. */
  readonly onFailure: (job: Job, error: unknown) => void;
}

/** A run of a job in this process. */
export interface RunningJob {
  /** Resolves when the process works on the job no more, with the job as it was left; it never rejects. */
  readonly ended: Promise<{ readonly job: Job; readonly stop?: Stop }>;
  stop(why: Stop): void;
  /** With the progress that is not in the store yet. */
  now(): Job;
}

/**
 * Works on a job until it ends, or the run is stopped. The row has the lease of this process already.
 */
export function runJob(row: JobRow, kind: JobKind, parts: RunParts): RunningJob {
  const run = new JobRun(row, kind, parts);
  return { ended: run.work(), stop: (why) => run.stop(why), now: () => run.seen() };
}

class JobRun {
  private readonly end = new AbortController();
  /** Aborts what is under way: at the end of the run, and where the client lost the right to it, which is the reason then. */
  private readonly underWay = new AbortController();
  private readonly breathe: () => Promise<void> | undefined;
  private readonly stepSize: StepSize;
  private why: Stop | undefined;
  private shown: JobProgress | undefined;
  /** Saves come one after the other. */
  private last: Promise<unknown> = Promise.resolve();

  constructor(
    private row: JobRow,
    private readonly kind: JobKind,
    private readonly parts: RunParts,
  ) {
    this.breathe = createBreath(parts);
    this.stepSize = createStepSize(parts.isBusy);
    const { signal } = this.end;
    signal.addEventListener('abort', () => void this.underWay.abort(signal.reason), { once: true });
  }

  stop(why: Stop): void {
    this.why ??= why;
    this.end.abort(new Error(`the job was ${why}`));
  }

  seen(): Job {
    const { job } = this.row;
    return this.shown === undefined ? job : { ...job, progress: this.shown };
  }

  async work(): Promise<{ readonly job: Job; readonly stop?: Stop }> {
    const beats = this.keepLease();
    try {
      if (this.kind.schemas !== undefined) await this.checkDocuments(await this.kind.schemas());
      while (!ENDED.has(this.row.job.state)) {
        if (this.end.signal.aborted) break;
        await this.tryChunk();
      }
    } catch (error) {
      // The store cannot be written to: another process, or this one later, takes the job up when the lease is over.
      if (this.why === undefined) this.parts.onFailure(this.row.job, error);
      this.stop('lost');
    }
    const { why } = this;
    // The lease is not renewed any more.
    this.end.abort();
    await beats;
    await this.last.catch(() => {});
    if (why === 'stopped') await this.release();
    return { job: this.seen(), ...(why !== undefined && { stop: why }) };
  }

  /** Fails a job whose documents cannot be read: its chunks would fail too, without a word that helps. */
  private async checkDocuments(schemas: JobSchemas): Promise<void> {
    const [first, ...others] = jobFaults(this.row.job, schemas);
    if (first === undefined) return;
    const more = others.length === 0 ? '' : ` (and ${others.length} more)`;
    const text = `The job cannot be read: ${first}${more}; another version of the program may have written it`;
    await this.fail(new FhirError('job-unreadable', text));
  }

  private async tryChunk(): Promise<void> {
    const { parts, kind, end } = this;
    const { signal } = this.underWay;
    const { job } = this.row;
    try {
      const { clock } = parts;
      const context: ChunkContext = {
        job,
        principal: await parts.principalOf(job.owner),
        signal,
        services: parts.services(),
        breathe: this.breathe,
        isBusy: parts.isBusy,
        stepSize: this.stepSize,
        now: () => clock.now(),
        sleep: (milliseconds) => clock.sleep(milliseconds, signal),
        report: (shown) => void (this.shown = shown),
      };
      const { checkpoint, progress, state, result } = await span('job', { job: kind.type }, () => kind.chunk(context));
      await this.save(({ lease, failures: _failures, ...rest }) => {
        const next: Job = {
          ...rest,
          failures: 0,
          state: state ?? 'in-progress',
          ...(checkpoint !== undefined && { checkpoint }),
          ...(progress !== undefined && { progress }),
        };
        if (result !== undefined) return endedJob({ ...next, result, state: 'completed' }, kind, clock.now());
        return { ...next, ...(lease !== undefined && { lease: this.newLease() }) };
      });
      if (this.why === undefined) this.shown = undefined;
    } catch (error) {
      if (end.signal.aborted) return;
      await this.fail(signal.aborted ? signal.reason : error);
    }
  }

  private async fail(error: unknown): Promise<void> {
    const { parts, end } = this;
    const failures = this.row.job.failures + 1;
    const isFinal = error instanceof FhirError && error.status < 500;
    parts.onFailure({ ...this.row.job, failures }, error);
    if (isFinal || failures >= MAX_FAILURES) {
      const failure = {
        failures,
        failure: describeFailure(error, failures),
        ...(error instanceof FhirError && { failureCode: error.code }),
      };
      await this.save(({ lease: _lease, ...rest }) =>
        endedJob({ ...rest, ...failure, state: 'failed' }, this.kind, parts.clock.now()),
      );
      return;
    }
    await this.save((job) => ({ ...job, failures }));
    const pause = Math.min(TIMES.maxRetry, TIMES.retry * 2 ** (failures - 1));
    await parts.clock.sleep(pause, end.signal).catch(() => {});
  }

  /** Replaces the row; where another process changed it, this run ends. */
  private save(change: (job: Job) => Job): Promise<void> {
    const step = this.last
      .catch(() => {})
      .then(async () => {
        const { rows } = this.parts;
        const next = await rows.replace(this.row, change(this.row.job));
        if (next !== undefined) {
          this.row = next;
          return;
        }
        const now = await rows.get(this.row.job.id);
        if (now !== undefined) this.row = now;
        this.stop(now === undefined || now.job.state === 'cancelled' ? 'cancelled' : 'lost');
      });
    this.last = step;
    return step;
  }

  private newLease(): NonNullable<Job['lease']> {
    const { clock, holder } = this.parts;
    return { holder, until: clock.now() + TIMES.lease };
  }

  private async keepLease(): Promise<void> {
    const { clock } = this.parts;
    const { signal } = this.end;
    for (let pause: number = TIMES.firstBeat; !signal.aborted; pause = TIMES.beat) {
      try {
        await clock.sleep(pause, signal);
        await this.checkRights();
        await this.save((job) => ({
          ...job,
          ...(job.lease !== undefined && { lease: this.newLease() }),
          ...(this.shown !== undefined && !ENDED.has(job.state) && { progress: this.shown }),
        }));
      } catch {
        // Aborted, or the store is away for the moment: the lease outlasts some beats.
      }
    }
  }

  /** Ends a step whose client is not registered for the job any more: beside others a step may take long. */
  private async checkRights(): Promise<void> {
    try {
      await this.parts.principalOf(this.row.job.owner);
    } catch (error) {
      if (!(error instanceof FhirError) || error.status >= 500) throw error;
      this.underWay.abort(error);
    }
  }

  /** Leaves the job to the next process at once. */
  private async release(): Promise<void> {
    const { lease, ...job } = this.row.job;
    if (lease === undefined) return;
    const row = await this.parts.rows.replace(this.row, job).catch(() => undefined);
    if (row !== undefined) this.row = row;
  }
}

/** The failure as the owner of a job sees it: texts of the catalog, and of defects only that there was one. */
export function describeFailure(error: unknown, failures: number): string {
  const [text] = error instanceof FhirError ? error.issues.map((issue) => issue.text) : [];
  const often = failures > 1 ? `; the same step failed ${failures} times` : '';
  return `${text ?? 'The server failed unexpectedly; its log says why'}${often}`;
}
