import type { Trace } from '../../core/call.js';
import type { Resource } from '../../fhir/resource.js';
import type { Condition } from '../../search/query/query.js';

/** Types of jobs that change what criteria find, and of those that undo that. */
export const BULK = { delete: 'bulk-delete', patch: 'bulk-patch', undo: 'bulk-undo' } as const;

/** Input of a job. */
export interface BulkInput {
  readonly base: string;
  readonly trace?: Trace;
  /** What is found, by type, within the constraints of the token. */
  readonly parts: readonly { readonly type: string; readonly where: Condition }[];
  /** Later versions are left: they were written after the request. Milliseconds since the epoch. */
  readonly until: number;
  /** FHIRPath Patch, of a job that patches. */
  readonly patch?: Resource;
  /** The job that is undone. */
  readonly undoes?: { readonly type: string; readonly id: string; readonly pages: number };
}

/** A version that a job is about to change: type, id and number. */
export type PlannedChange = readonly [type: string, id: string, version: number];

/** Numbers of resources by what became of them. */
export interface BulkCounts {
  readonly done: number;
  /** Others have changed them meanwhile. */
  readonly skipped: number;
  /** They were refused, as a request by itself would have been. */
  readonly failed: number;
  /** Why, of the first ones. */
  readonly failures: readonly string[];
}

/** Checkpoint of a job. A page is planned, and the plan saved, before the first resource of it is changed. */
export interface BulkCheckpoint {
  readonly part: number;
  readonly after?: string;
  readonly page: number;
  readonly planned?: readonly PlannedChange[];
  readonly total: number;
  readonly counts: BulkCounts;
}

/** Last part of the key of the blob that lists what a page changed: JSON of `PlannedChange`s. */
export function pageFile(page: number): string {
  return `page.${page}`;
}
