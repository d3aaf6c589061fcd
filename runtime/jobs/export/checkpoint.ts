import { fileKey, type ExportFile } from '../../core/job-files/read-job-file.js';
import type { Job, JobProgress } from '../../core/jobs.js';
import type { JsonObject } from '../../fhir/resource.js';
import type { ChunkContext, ChunkResult } from '../engine/job-kind.js';
import type { ExportInput } from './export-input.js';

/** Phases of an export, in this order. */
export type Phase =
  /** Waits until no write of the past can appear any more. */
  | 'settle'
  /** Reads the current versions type by type. */
  | 'walk'
  /** Adds the versions that were current at the transaction time and were replaced or deleted before the walk reached them. */
  | 'late'
  /** Adds what the resources in the files refer to, of some types. */
  | 'referred'
  /** With `_since`: lists what was deleted. */
  | 'deleted'
  /** Of views: makes tables of the rows in the files. */
  | 'tables'
  /** Makes files of blocks from the files by type, for an export that is organized by patients. */
  | 'organize'
  | 'end';

/** How far an export is. */
export interface ExportCheckpoint {
  readonly phase: Phase;
  /**
   * Of the walk: place of the part, of the block of patients, and in the store's order of that. Of tables: place of the part, and how many
   * of its rows are in tables already. Of organizing: how many sets of patients are done.
   */
  readonly part: number;
  readonly block: number;
  readonly after?: string;
  /** Of the history that the later phases read: where it goes on. */
  readonly history?: string;
  /** Files that are whole. Others under the prefix of the job are left over from chunks that did not end. */
  readonly files: readonly ExportFile[];
  /** Of organizing: the files by type. */
  readonly sources?: readonly ExportFile[];
  /** How many of them the walk made. */
  readonly walked: number;
  /** Resources in all files. */
  readonly done: number;
  readonly total?: number;
}

/** Before the first chunk. */
export const BEGINNING: ExportCheckpoint = { phase: 'settle', part: 0, block: 0, files: [], walked: 0, done: 0 };

/** Context of a chunk of an export, with the input and the checkpoint of the job. */
export interface ExportChunk extends ChunkContext {
  readonly input: ExportInput;
  readonly at: ExportCheckpoint;
}

/** Reads input and checkpoint of a job of this kind. */
export function openChunk(context: ChunkContext): ExportChunk {
  const { input, checkpoint } = context.job;
  return {
    ...context,
    input: input as unknown as ExportInput,
    at: (checkpoint as unknown as ExportCheckpoint | undefined) ?? BEGINNING,
  };
}

/** The result of a chunk that leads to a checkpoint. */
export function toResult(next: ExportCheckpoint): ChunkResult {
  return { checkpoint: next as unknown as JsonObject, progress: progressOf(next) };
}

/** How far an export is, for people. */
export function progressOf({ done, total }: Pick<ExportCheckpoint, 'done' | 'total'>): JobProgress {
  return { done, unit: 'resources', ...(total !== undefined && { total: Math.max(done, total) }) };
}

/** The phase after all files by type are made. */
export function lastPhase({ organizedBy }: Pick<ExportInput, 'organizedBy'>): Phase {
  return organizedBy === undefined ? 'end' : 'organize';
}

/** The name of the next file. Those of a process that lost the job have another, so that they cannot take its place. */
export function nextName({ run }: Pick<Job, 'run'>, { files }: ExportCheckpoint): string {
  return `${run}-${files.length}`;
}

/** Key of the blob of a file of a job. */
export function keyOf(job: Pick<Job, 'type' | 'id'>, name: string): string {
  return fileKey(job, name);
}
