import type { Call } from '../../core/call.js';
import { ENDED } from '../../core/jobs.js';
import type { Services } from '../../core/services.js';
import type { ResourceKey } from '../../store/store.js';
import type { ChunkContext } from '../engine/job-kind.js';
import type { Activity } from './provenance.js';

/** The type of jobs that replace references, those of merges included. */
export const REPLACEMENT = 'replace-references';

/** Parts of the starting call that a job keeps. */
export type KeptCall = Pick<Call, 'operation' | 'level' | 'type' | 'base'>;

/** Input of a replacement, as its job keeps it. */
export interface ReplacementInput extends KeptCall {
  readonly activity: Activity;
  readonly source: ResourceKey;
  readonly target: ResourceKey;
  /** Id of the Task that shows how far it is. */
  readonly task: string;
  /** Of a merge: the JSON text of what the target shall be. */
  readonly result?: string;
}

/** Returns the parts of a call that a job keeps. */
export function keptOf({ operation, level, type, base }: Call): KeptCall {
  return {
    base,
    ...(operation !== undefined && { operation }),
    ...(level !== undefined && { level }),
    ...(type !== undefined && { type }),
  };
}

/** The call that a job goes on with, as far as it is needed. */
export function callOf(
  { operation, level, type, base }: ReplacementInput,
  { principal, signal }: Pick<ChunkContext, 'principal' | 'signal'>,
): Call {
  return {
    ...{ interaction: 'operation', principal, base, signal },
    ...(operation !== undefined && { operation }),
    ...(level !== undefined && { level }),
    ...(type !== undefined && { type }),
    ...{ params: new URLSearchParams(), conditions: {}, prefer: {} },
  };
}

/** Whether the job of a Task may change something still. */
export async function isAtWork(task: string, { jobs }: Pick<Services, 'jobs'>): Promise<boolean> {
  const found = (await jobs?.list())?.find(({ type, input }) => type === REPLACEMENT && input['task'] === task);
  if (found === undefined) return false;
  // Another process may be in the middle of a step of a job that was cancelled.
  return !ENDED.has(found.state) || (found.lease !== undefined && found.lease.until > Date.now());
}
