import type { NeededScopes } from '../auth/access/needed-scopes.js';
import type { JobOwner } from '../auth/access/owner.js';
import type { Principal } from '../auth/scopes/principal.js';
import type { ErrorCode } from '../fhir/errors.js';
import type { JsonObject } from '../fhir/resource.js';

/** The state of a job. `finalizing` is in progress too: only what remains after the last chunk is left. */
export type JobState = 'queued' | 'in-progress' | 'finalizing' | 'completed' | 'failed' | 'cancelled';

/** States from which a job does not go on. */
export const ENDED: ReadonlySet<JobState> = new Set(['completed', 'failed', 'cancelled']);

/** How far a job is, for people and for `X-Progress`. */
export interface JobProgress {
  /** Units (resources, versions) that are done. */
  readonly done: number;
  /** Units in all, as far as known; absent: unknown. */
  readonly total?: number;
  /** What the units are: `resources`. */
  readonly unit: string;
}

/** Work that goes on after the answer to the request that started it, kept in the store. All of it is plain JSON. */
export interface Job {
  /** A UUID. */
  readonly id: string;
  /** The kind of work: `export`, `reindex`, … */
  readonly type: string;
  readonly owner: JobOwner;
  /** Subject of the work; it never changes until the job ends, when its secrets go. */
  readonly input: JsonObject;
  readonly state: JobState;
  /** Milliseconds since the epoch, as all times here. */
  readonly created: number;
  /** When a process first took it up. */
  readonly started?: number;
  readonly ended?: number;
  readonly progress: JobProgress;
  /** What the last finished chunk left for the next one; absent: no chunk is done. */
  readonly checkpoint?: JsonObject;
  /** What a completed job produced. */
  readonly result?: JsonObject;
  /** Why it failed, in words for its owner. */
  readonly failure?: string;
  /** The failure's code of the catalog; absent: a defect, or its processes ended. */
  readonly failureCode?: ErrorCode;
  /** How often the present chunk has failed in a row. */
  readonly failures: number;
  /** How often a process took it up. Names that include it cannot collide with those of a process that lost the job. */
  readonly run: number;
  /** The process that works on it, and until when it may without another sign of life. */
  readonly lease?: { readonly holder: string; readonly until: number };
  /** What a cancelled or expired job left is removed. */
  readonly isDiscarded?: true;
}

/** The jobs of a store, as requests see them. */
export interface Jobs {
  /**
   * Writes a job into the store. It starts at once in this process if that has a free place, else when a process has one.
   *
   * @param input plain JSON
   * @param principal on whose behalf all of it is done
   * @param uses the scopes that it needs: no others of the token are kept for it
   * @throws FhirError `too-many-jobs` where the client has as many as it may
   */
  start(type: string, input: JsonObject, principal: Principal, uses: NeededScopes): Promise<Job>;
  /** Undefined: there never was one of this id, or it is past its retention time. */
  read(id: string): Promise<Job | undefined>;
  /** All that are kept, oldest first. */
  list(): Promise<readonly Job[]>;
  /**
   * Cancels a job and removes what it made. In this process it has ended when this resolves; in another one it ends at its next
   * chunk or sign of life.
   *
   * @returns false: it had ended before, or there is none
   */
  cancel(id: string): Promise<boolean>;
  /** Removes a job that has ended, with what it made, before its retention time is over. */
  remove(id: string): Promise<void>;
}

/** Jobs that a client may have. */
export interface JobsPerClient {
  /** That have not ended. */
  readonly running: number;
  /** That have ended, and whose results are kept. */
  readonly kept: number;
}

/** Where no setting says otherwise. */
export const JOBS_PER_CLIENT: JobsPerClient = { running: 20, kept: 100 };
