import type { Principal } from '../../auth/scopes/principal.js';
import type { Job, JobProgress } from '../../core/jobs.js';
import type { Services } from '../../core/services.js';
import type { JobSchemas } from './check-job.js';
import type { StepSize } from './step-size.js';
import type { JsonObject } from '../../fhir/resource.js';

/** Context that a chunk of a job works with. */
export interface ChunkContext {
  /** As it is before the chunk: `job.input`, `job.checkpoint`, `job.run`. */
  readonly job: Job;
  /** On whose behalf the chunk is done: all that it reads, checks and writes is bounded by this. */
  readonly principal: Principal;
  /** Aborts when the process ends, or the job is cancelled or lost to another process: the chunk then has to reject soon. */
  readonly signal: AbortSignal;
  /** Of this moment; each chunk gets them anew, so that changed search parameters are in effect. */
  readonly services: Services;
  /** To be awaited between pieces of work of some milliseconds: requests have their turn in between. */
  readonly breathe: () => Promise<void> | undefined;
  /** Whether requests are in progress: smaller pieces of work then let them pass sooner. */
  readonly isBusy: () => boolean;
  /** How much a step does at once that the store does as a whole. */
  readonly stepSize: StepSize;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Pauses. @throws the signal's reason once it aborts */
  readonly sleep: (milliseconds: number) => Promise<void>;
  /** Shows progress within a chunk. It reaches the store with the next sign of life. */
  readonly report: (progress: JobProgress) => void;
}

/** A job that ends now, without the secret of its input. */
export function endedJob(job: Job, { secret }: Pick<JobKind, 'secret'>, ended: number): Job {
  if (secret === undefined) return { ...job, ended };
  const { [secret]: _secret, ...input } = job.input;
  return { ...job, ended, input };
}

/** Result of a chunk. */
export interface ChunkResult {
  /** For the next chunk: plain JSON. Absent: as it was. */
  readonly checkpoint?: JsonObject;
  readonly progress?: JobProgress;
  /** `finalizing`: what is left takes no time that a client would notice. */
  readonly state?: 'in-progress' | 'finalizing';
  /** The job is completed, with this result. */
  readonly result?: JsonObject;
}

/**
 * A kind of job. The engine calls `chunk` again and again, saves the checkpoint after each, and repeats a chunk whose process
 * died or that failed. So a chunk has to be idempotent: doing it again from the same checkpoint gives the same as doing it once.
 * A FhirError with a status below 500 fails the job at once with its text; other errors are retried with growing pauses.
 */
export interface JobKind {
  readonly type: string;
  /** What its documents have to be; absent: that is not checked. Asked when a process takes up a job. */
  readonly schemas?: () => Promise<JobSchemas>;
  /** Member of its input that is removed when a job ends. */
  readonly secret?: string;
  /** It changes resources, or their index entries. */
  readonly writes?: true;
  /** How long a job is kept after its end, in milliseconds. */
  readonly retention: number;
  /** As many of its jobs are worked on at a time as of all other kinds together, beside these. */
  readonly hasOwnPlaces?: true;
  /** Where its client has too many, the oldest that ended is removed: it has no files that the client may not have read yet. */
  readonly givesWay?: true;
  /** Does one chunk: a second or so of work. */
  chunk(context: ChunkContext): Promise<ChunkResult>;
  /** Removes what a job made, when it is cancelled, failed, or past its retention. It may be called more than once. */
  discard?(job: Job, services: Services): Promise<void>;
}
